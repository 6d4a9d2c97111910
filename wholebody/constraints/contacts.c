/* contacts.c - contacts that do not slip: flat (a sole), along a line (an edge), at a point (a fingertip). */
#include "wholebody/constraints/constraints.h"

#include "wholebody/rotations.h"

/* Its numbers. Flat: none. Point: where it is in its frame. Line: the axis of the edge, a point of it.
 *
 * Three rows of the point's velocity, then those of the angular velocity that is held: all, the two about axes of the
 * body across the edge, or none. */
void fill_contact(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out)
{
    int frame = constraint->frame;
    double (*R)[4] = now->placement[frame];
    const double *parameters = constraint->numbers + 1, *alpha = now->bias[frame] + 3;
    double d[3] = {0.0, 0.0, 0.0}, velocity[3], p[3], B[6][6] = {{0}};
    if (constraint->kind == CONSTRAINT_POINT)
        rotate_by_placement(R, parameters, d);
    else if (constraint->kind == CONSTRAINT_LINE)
        rotate_by_placement(R, parameters + 3, d);
    point_motion(now, frame, d, velocity, out.bias);
    for (int k = 0; k < 3; k++) {
        B[k][k] = 1.0;
        p[k] = now->lever[frame][k] + d[k];
    }
    if (constraint->kind == CONSTRAINT_FLAT)
        for (int k = 3; k < 6; k++) {
            B[k][k] = 1.0;
            out.bias[k] = alpha[k - 3];
        }
    if (constraint->kind == CONSTRAINT_LINE) {
        double across[2][3];
        across_axis(parameters, across[0], across[1]);
        for (int k = 0; k < 2; k++) {
            rotate_by_placement(R, across[k], B[3 + k] + 3);
            out.bias[3 + k] = dot3(B[3 + k] + 3, alpha);
        }
    }
    add_point_rows(tree, now, frame, p, B, constraint->rows, out.J, 0);
}
