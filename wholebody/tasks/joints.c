/* joints.c - tasks on joints: hold or move them, and push those back that come near the end of their range. */
#include "wholebody/tasks/tasks.h"

#include <math.h>

/* Where in q the position of a joint is that has this column of v. */
static double position_of(const Tree *tree, const Snapshot *now, int64_t column)
{
    return now->q[column + tree->nq - tree->nv];
}

static void ones_at(Columns J, int64_t column, int row)
{
    if (J.at)
        J.at[(size_t)column * (size_t)J.width + (size_t)row] = 1.0;
}

/* Its numbers: a goal for each joint. */
int fill_joint_position(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    for (int i = 0; i < task->joint_count; i++) {
        int64_t column = task->joints[i];
        ones_at(out.J, column, i);
        out.error[i] = task->goal[i] - position_of(tree, now, column);
        out.velocity[i] = now->v[column];
        out.bias[i] = 0.0;
        out.source[i] = i;
    }
    return task->joint_count;
}

/* How far back a joint must go to leave the margin before its limits; 0 if it is not in it. Numbers of the task: lower
 * limits, upper limits, the margin. */
static double way_back(const Task *task, const Tree *tree, const Snapshot *now, int i)
{
    double q = position_of(tree, now, task->joints[i]), margin = task->goal[2 * task->joint_count];
    double lower = task->goal[i], upper = task->goal[task->joint_count + i];
    double from_upper = upper - margin - q, from_lower = lower + margin - q;
    return (from_upper > 0.0 ? 0.0 : from_upper) + (from_lower < 0.0 ? 0.0 : from_lower);
}

int count_joint_limits(const Task *task, const Tree *tree, const Snapshot *now)
{
    int found = 0;
    for (int i = 0; i < task->joint_count; i++)
        found += way_back(task, tree, now, i) != 0.0;
    return found;
}

/* A row for each joint within its margin; it counts the more, the nearer the limit is. */
int fill_joint_limits(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    double margin = task->goal[2 * task->joint_count];
    int row = 0;
    for (int i = 0; i < task->joint_count; i++) {
        double back = way_back(task, tree, now, i);
        if (back == 0.0)
            continue;
        ones_at(out.J, task->joints[i], row);
        out.error[row] = back;
        out.velocity[row] = now->v[task->joints[i]];
        out.bias[row] = 0.0;
        out.activation[row] = margin > 0.0 ? fmin(fabs(back) / margin, 1.0) : 1.0;
        out.source[row] = i;
        row++;
    }
    return row;
}
