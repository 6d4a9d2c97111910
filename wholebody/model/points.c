/* points.c - how a point fixed to a frame moves, and rows of its Jacobian as columns of a wide matrix.
 *
 * Controllers want J^T, whose columns are the rows of many tasks side by side; add_point_rows writes them there at
 * once, and touches only the joints that move the point. */
#include "wholebody/model/model.h"

#include "wholebody/rotations.h"

/* Velocity v + w x d, and bias a + alpha x d + w x (w x d). */
void point_motion(const Snapshot *now, int frame, const double d[3], double velocity[3], double bias[3])
{
    const double *twist = now->velocity[frame], *drift = now->bias[frame];
    double wd[3], ad[3], wwd[3];
    cross3(twist + 3, d, wd);
    cross3(drift + 3, d, ad);
    cross3(twist + 3, wd, wwd);
    for (int k = 0; k < 3; k++) {
        velocity[k] = twist[k] + wd[k];
        bias[k] = drift[k] + ad[k] + wwd[k];
    }
}

void add_point_rows(const Tree *tree, const Snapshot *now, int frame, const double p[3], double (*B)[6],
                    int count, Columns into, int first)
{
    size_t width = (size_t)into.width;
    double (*A)[width] = (double (*)[width])into.at;
    if (!into.at)
        return;
    const double *R = now->rotation[0];
    if (tree->floating)
        for (int k = 0; k < 3; k++) {
            double a[3] = {R[k], R[3 + k], R[6 + k]}, ap[3];
            cross3(a, p, ap);
            for (int i = 0; i < count; i++) {
                A[k][first + i] += dot3(B[i], a);
                A[3 + k][first + i] += dot3(B[i], ap) + dot3(B[i] + 3, a);
            }
        }
    for (int64_t body = tree->frame_body[frame]; body > 0; body = tree->parent[body]) {
        const double *screw = now->screw[body], *a = screw + 3;
        double *row = A[tree->column[body]] + first, s[3];
        cross3(a, p, s);
        for (int k = 0; k < 3; k++)
            s[k] += screw[k];
        for (int i = 0; i < count; i++)
            row[i] += dot3(B[i], s) + dot3(B[i] + 3, a);
    }
}
