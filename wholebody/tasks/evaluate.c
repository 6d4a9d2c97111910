/* evaluate.c - one task of any kind: laid over the arrays of Python, its rows counted and filled. */
#include "wholebody/tasks/tasks.h"

enum { DESCRIBED = 5 };

Task task_in(const int64_t *integers, int count, double *numbers, int length)
{
    int rows = (int)integers[4];
    double *row = numbers + 3;
    return (Task){
        .kind = (TaskKind)integers[0],
        .frame = (int)integers[1],
        .reference = (int)integers[2],
        .mask = (int)integers[3],
        .rows = rows,
        .joint_count = count - DESCRIBED,
        .joints = integers + DESCRIBED,
        .length = length,
        .numbers = numbers,
        .integral_limit = numbers + 1,
        .error_limit = numbers + 2,
        .stiffness = row,
        .damping = row + rows,
        .integral_gain = row + 2 * rows,
        .goal_velocity = row + 3 * rows,
        .goal_acceleration = row + 4 * rows,
        .accumulated = row + 5 * rows,
        .goal = row + 6 * rows,
    };
}

/* What each kind needs: rows and numbers after those of each row, or one for each joint; whether it has a frame. */
typedef struct {
    int rows, goals;
    bool has_frame;
} TaskNeeds;

static TaskNeeds needs_of(const Task *task)
{
    int joints = task->joint_count;
    switch (task->kind) {
    case TASK_CUSTOM: return (TaskNeeds){task->rows, 0, false};
    case TASK_JOINT_POSITION: return (TaskNeeds){joints, joints, false};
    case TASK_POSITION: return (TaskNeeds){3, 6, true};
    case TASK_ORIENTATION_2D: return (TaskNeeds){2, 6, true};
    case TASK_ORIENTATION_3D: return (TaskNeeds){3, 4, true};
    case TASK_POSE: return (TaskNeeds){6, 10, true};
    case TASK_CENTER_OF_MASS: return (TaskNeeds){3, 3, false};
    case TASK_MOMENTUM: return (TaskNeeds){6, 6, false};
    case TASK_EXTERNAL_FORCE: return (TaskNeeds){3, 9, true};
    case TASK_JOINT_LIMITS: return (TaskNeeds){joints, 2 * joints + 1, false};
    case TASK_CENTER_OF_PRESSURE: return (TaskNeeds){2, 2, false};
    case TASK_INTERNAL_FORCE: return (TaskNeeds){1, 1, false};
    case TASK_CONTACT_FORCE: return (TaskNeeds){3, 3, false};
    }
    return (TaskNeeds){-1, 0, false};
}

bool task_fits(const Task *task, const Tree *tree)
{
    TaskNeeds needs = needs_of(task);
    bool fits = task->rows == needs.rows && task->length >= 3 + 6 * task->rows + needs.goals &&
                (!needs.has_frame || task->frame >= 0) && task->frame < tree->frames && task->reference < tree->frames;
    for (int i = 0; i < task->joint_count; i++)
        fits = fits && task->joints[i] >= 0 && task->joints[i] < tree->nv;
    return fits;
}

int count_task_rows(const Task *task, const Tree *tree, const Snapshot *now)
{
    if (task->kind == TASK_JOINT_LIMITS)
        return count_joint_limits(task, tree, now);
    if (task->kind != TASK_POSITION && task->kind != TASK_CENTER_OF_MASS && task->kind != TASK_MOMENTUM)
        return task->rows;
    int count = 0;
    for (int k = 0; k < task->rows; k++)
        count += (task->mask >> k) & 1;
    return count;
}

void fill_task_rows(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    switch (task->kind) {
    case TASK_JOINT_POSITION: fill_joint_position(task, tree, now, out); break;
    case TASK_POSITION: fill_position(task, tree, now, out); break;
    case TASK_ORIENTATION_2D: fill_orientation_2d(task, tree, now, out); break;
    case TASK_ORIENTATION_3D: fill_orientation_3d(task, tree, now, out); break;
    case TASK_POSE: fill_pose(task, tree, now, out); break;
    case TASK_CENTER_OF_MASS: fill_center_of_mass(task, tree, now, out); break;
    case TASK_MOMENTUM: fill_momentum(task, tree, now, out); break;
    case TASK_EXTERNAL_FORCE: fill_external_force(task, tree, now, out); break;
    case TASK_JOINT_LIMITS: fill_joint_limits(task, tree, now, out); break;
    case TASK_CUSTOM: case TASK_CENTER_OF_PRESSURE: case TASK_INTERNAL_FORCE: case TASK_CONTACT_FORCE: break;
    }
}
