/* omni_wheel.c - a wheel whose rim is made of rollers: it drives one way and slides freely along its axle. */
#include "wholebody/constraints/constraints.h"

#include "wholebody/rotations.h"

/* The direction of rolling t = axle x n, of unit length, and its rate, of an axle that turns with w. */
static void rolling_direction(const double axle[3], const double n[3], const double w[3], double t[3], double rate[3])
{
    double turning[3];
    cross3(axle, n, t);
    cross3(w, axle, turning);
    cross3(turning, n, rate);
    double length = norm3(t);
    for (int k = 0; k < 3; k++)
        t[k] /= length;
    double along = dot3(t, rate);
    for (int k = 0; k < 3; k++)
        rate[k] = (rate[k] - t[k] * along) / length;
}

/* Its numbers: radius, axle in the frame, normal of the ground in the world.
 *
 * With r = -radius n: the row along the normal, n . v = 0, and that of rolling, t . (v + w x r) = t . v + (r x t) . w = 0,
 * whose bias is t . (a + alpha x r) + dt/dt . (v + w x r). */
void fill_omni_wheel(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out)
{
    int frame = constraint->frame;
    const double radius = constraint->numbers[1], *n = constraint->numbers + 5;
    const double *v = now->velocity[frame], *w = v + 3, *a = now->bias[frame], *alpha = a + 3;
    double axle[3], t[3], rate[3], m[3], wr[3], ar[3], r[3] = {-radius * n[0], -radius * n[1], -radius * n[2]};
    rotate_by_placement(now->placement[frame], constraint->numbers + 2, axle);
    rolling_direction(axle, n, w, t, rate);
    cross3(r, t, m);
    cross3(w, r, wr);
    cross3(alpha, r, ar);
    double B[2][6] = {{n[0], n[1], n[2], 0.0, 0.0, 0.0}, {t[0], t[1], t[2], m[0], m[1], m[2]}};
    out.bias[0] = dot3(n, a);
    out.bias[1] = 0.0;
    for (int k = 0; k < 3; k++)
        out.bias[1] += t[k] * (a[k] + ar[k]) + rate[k] * (v[k] + wr[k]);
    add_point_rows(tree, now, frame, now->lever[frame], B, 2, out.J, 0);
}
