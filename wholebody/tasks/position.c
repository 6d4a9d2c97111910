/* position.c - a point of the robot, in the world or as seen from any other frame. */
#include "wholebody/tasks/tasks.h"

#include "wholebody/rotations.h"

/* A point as seen from the reference; `p` is where it is from O, in the axes of the world. */
typedef struct {
    double p[3];
    double position[3], velocity[3], bias[3];
} SeenPoint;

/* With r from the reference's origin to the point, and w, alpha, v0, a0 of the reference:
 *     x = R^T r,  dx = R^T (v - v0 - w x r),  bias = R^T (a - a0 - alpha x r - 2 w x (v - v0) + w x (w x r)) */
static SeenPoint see_from_reference(const Snapshot *now, int reference, SeenPoint seen)
{
    double (*R)[4] = now->placement[reference];
    const double *twist = now->velocity[reference], *drift = now->bias[reference], *w = twist + 3;
    double r[3], s[3], wr[3], ws[3], ar[3], wwr[3], moving[3], bias[3];
    for (int k = 0; k < 3; k++) {
        r[k] = seen.p[k] - now->lever[reference][k];
        s[k] = seen.velocity[k] - twist[k];
    }
    cross3(w, r, wr);
    cross3(w, s, ws);
    cross3(drift + 3, r, ar);
    cross3(w, wr, wwr);
    for (int k = 0; k < 3; k++) {
        moving[k] = s[k] - wr[k];
        bias[k] = seen.bias[k] - drift[k] - ar[k] - 2 * ws[k] + wwr[k];
    }
    rotate_back_by_placement(R, r, seen.position);
    rotate_back_by_placement(R, moving, seen.velocity);
    rotate_back_by_placement(R, bias, seen.bias);
    return seen;
}

static SeenPoint see_point(const Task *task, const Snapshot *now, const double point[3])
{
    SeenPoint seen;
    double d[3];
    rotate_by_placement(now->placement[task->frame], point, d);
    point_motion(now, task->frame, d, seen.velocity, seen.bias);
    for (int k = 0; k < 3; k++) {
        seen.p[k] = now->lever[task->frame][k] + d[k];
        seen.position[k] = now->position[task->frame][k] + d[k];
    }
    return task->reference < 0 ? seen : see_from_reference(now, task->reference, seen);
}

/* A row for each axis of the reference that counts: e = goal - x. */
static int fill_point(const Task *task, const Tree *tree, const Snapshot *now, const double point[3], TaskColumns out)
{
    SeenPoint seen = see_point(task, now, point);
    double B[3][6] = {{0}};
    int count = 0, reference = task->reference;
    for (int k = 0; k < 3; k++) {
        if (!(task->mask & (1 << k)))
            continue;
        for (int j = 0; j < 3; j++)
            B[count][j] = reference < 0 ? (j == k ? 1.0 : 0.0) : now->placement[reference][j][k];
        out.error[count] = task->goal[k] - seen.position[k];
        out.velocity[count] = seen.velocity[k];
        out.bias[count] = seen.bias[k];
        out.source[count] = k;
        count++;
    }
    add_point_rows(tree, now, task->frame, seen.p, B, count, out.J, 0);
    if (reference >= 0) {
        for (int i = 0; i < count; i++)
            for (int j = 0; j < 3; j++)
                B[i][j] = -B[i][j];
        add_point_rows(tree, now, reference, seen.p, B, count, out.J, 0);
    }
    return count;
}

/* Its numbers: goal, point. */
int fill_position(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    return fill_point(task, tree, now, task->goal + 3, out);
}

/* Its numbers: goal, point, what a sensor measured. The error is of the force: goal - measured. */
int fill_external_force(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    int count = fill_point(task, tree, now, task->goal + 3, out);
    for (int k = 0; k < count; k++)
        out.error[k] = task->goal[k] - task->goal[6 + k];
    return count;
}

/* Its numbers: goal of the position, goal of the orientation, origin. A position above an orientation. */
int fill_pose(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    int count = fill_point(task, tree, now, task->goal + 7, out);
    Task turning = *task;
    turning.goal += 3;
    TaskColumns below = {{out.J.at ? out.J.at + count : NULL, out.J.width}, out.error + count, out.velocity + count, out.bias + count,
                         out.activation + count, out.source + count};
    int turned = fill_orientation_3d(&turning, tree, now, below);
    for (int k = 0; k < turned; k++)
        below.source[k] += count;
    return count + turned;
}
