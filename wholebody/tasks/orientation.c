/* orientation.c - a frame turned as a goal is, or one of its axes pointed in a direction. */
#include "wholebody/tasks/tasks.h"

#include "wholebody/rotations.h"

/* Angular velocity and bias as seen from the reference: R^T (w - w0) and R^T (alpha - alpha0 - w0 x w). */
static void see_turning(const Task *task, const Snapshot *now, double velocity[3], double bias[3])
{
    const double *w = now->velocity[task->frame] + 3, *alpha = now->bias[task->frame] + 3;
    double wanted[3] = {w[0], w[1], w[2]}, drift[3] = {alpha[0], alpha[1], alpha[2]}, coriolis[3];
    if (task->reference < 0) {
        for (int k = 0; k < 3; k++)
            velocity[k] = wanted[k], bias[k] = drift[k];
        return;
    }
    const double *w0 = now->velocity[task->reference] + 3, *alpha0 = now->bias[task->reference] + 3;
    cross3(w0, w, coriolis);
    for (int k = 0; k < 3; k++) {
        wanted[k] -= w0[k];
        drift[k] -= alpha0[k] + coriolis[k];
    }
    rotate_back_by_placement(now->placement[task->reference], wanted, velocity);
    rotate_back_by_placement(now->placement[task->reference], drift, bias);
}

/* The rotation vector to the goal, in the axes of the reference. */
static void turn_to_goal(const Task *task, const Snapshot *now, double turn[3])
{
    double R[9], reference[9], seen[9];
    rotation_of_placement(now->placement[task->frame], R);
    if (task->reference < 0) {
        turn_between(task->goal, R, turn);
    } else {
        rotation_of_placement(now->placement[task->reference], reference);
        product_with_transpose(reference, R, seen);
        turn_between(task->goal, seen, turn);
    }
}

/* Its numbers: the goal, a quaternion. Three rows of the angular velocity in the axes of the reference. */
int fill_orientation_3d(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    double B[3][6] = {{0}};
    int reference = task->reference;
    see_turning(task, now, out.velocity, out.bias);
    turn_to_goal(task, now, out.error);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            B[k][3 + j] = reference < 0 ? (j == k ? 1.0 : 0.0) : now->placement[reference][j][k];
        out.source[k] = k;
    }
    add_point_rows(tree, now, task->frame, now->lever[task->frame], B, 3, out.J, 0);
    if (reference >= 0) {
        for (int k = 0; k < 3; k++)
            for (int j = 3; j < 6; j++)
                B[k][j] = -B[k][j];
        add_point_rows(tree, now, reference, now->lever[task->frame], B, 3, out.J, 0);
    }
    return 3;
}

/* A direction of unit length; none becomes no number, and so a fault. */
static void unit(const double a[3], double result[3])
{
    double length = norm3(a);
    for (int k = 0; k < 3; k++)
        result[k] = a[k] / length;
}

/* Its numbers: an axis of the frame, the direction it shall point in. Two rows of the angular velocity about axes of
 * the body across the one that points; a fixed axis a of the body has d/dt (a . w) = a . alpha. */
int fill_orientation_2d(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    double (*R)[4] = now->placement[task->frame];
    const double *w = now->velocity[task->frame] + 3, *alpha = now->bias[task->frame] + 3;
    double axis[3], goal[3], across[2][3], pointing[3], turn[3], B[2][6] = {{0}};
    unit(task->goal, axis);
    unit(task->goal + 3, goal);
    across_axis(axis, across[0], across[1]);
    rotate_by_placement(R, axis, pointing);
    turn_onto(pointing, goal, turn);
    for (int k = 0; k < 2; k++) {
        double *a = B[k] + 3;
        rotate_by_placement(R, across[k], a);
        out.error[k] = dot3(a, turn);
        out.velocity[k] = dot3(a, w);
        out.bias[k] = dot3(a, alpha);
        out.source[k] = k;
    }
    add_point_rows(tree, now, task->frame, now->lever[task->frame], B, 2, out.J, 0);
    return 2;
}
