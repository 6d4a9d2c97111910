/* collision.c - boxes along the axes of the world around shapes, and how far apart they are. */
#include "wholebody/kinematics/collision.h"

#include <math.h>

/* centre +- |R| half, with R and the centre of L A: link to world times shape to link. */
static void bound(const Boxes *boxes, int shape, const double *L)
{
    const double *A = boxes->at[shape], *half = boxes->half[shape];
    for (int row = 0; row < 3; row++, L += 4) {
        double centre = L[3], reach = 0.0;
        for (int column = 0; column < 3; column++) {
            double entry = L[0] * A[column] + L[1] * A[4 + column] + L[2] * A[8 + column];
            centre += L[column] * A[4 * column + 3];
            reach += fabs(entry) * half[column];
        }
        boxes->low[shape][row] = centre - reach;
        boxes->high[shape][row] = centre + reach;
    }
}

int place_boxes(const Boxes *boxes, const double *placements, double within)
{
    int count = 0;
    for (int shape = 0; shape < boxes->shapes; shape++)
        bound(boxes, shape, placements + 16 * boxes->link[shape]);
    for (int index = 0; index < boxes->pairs; index++) {
        int64_t one = boxes->pair[index][0], other = boxes->pair[index][1];
        double square = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            double before = boxes->low[one][axis] - boxes->high[other][axis];
            double after = boxes->low[other][axis] - boxes->high[one][axis];
            double apart = before > after ? before : after;
            square += apart > 0.0 ? apart * apart : 0.0;
        }
        boxes->gap[index] = sqrt(square);
        if (boxes->gap[index] <= within)
            boxes->near[count++] = index;
    }
    return count;
}
