/* transitions.c - what of a problem changed since the cycle before: goals, gains, states, contacts. */
#include "wholebody/control/transitions.h"

#include <math.h>

int count_parameters(const Problem *problem)
{
    int total = 0;
    for (int index = 0; index < problem->task_count; index++)
        total += problem->tasks[index].task->length;
    for (int index = 0; index < problem->constraint_count; index++)
        total += problem->constraints[index].constraint->length;
    return total;
}

static Change greater(Change a, Change b)
{
    return a > b ? a : b;
}

static bool differ(const double *a, const double *b, int count)
{
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= a[i] != b[i];
    return found;
}

/* Goal velocities push by kd, goal accelerations by themselves, a goal by kp: compared with kp times the jump. */
static bool feeds_forward(const Task *task, const double *seen, double jump)
{
    const double *velocity = seen + (task->goal_velocity - task->numbers);
    const double *acceleration = seen + (task->goal_acceleration - task->numbers);
    for (int i = 0; i < task->rows; i++) {
        double least = task->stiffness[i] * jump;
        if (task->damping[i] * fabs(task->goal_velocity[i] - velocity[i]) > least ||
            fabs(task->goal_acceleration[i] - acceleration[i]) > least)
            return true;
    }
    return false;
}

/* The accumulated error was chosen by nobody: it does not count. */
static Change change_of_task(const Task *task, const double *seen, double jump)
{
    Change found = task->numbers[0] != seen[0] ? CHANGE_STATE : CHANGE_NONE;
    if (differ(task->numbers + 1, seen + 1, (int)(task->goal_velocity - task->numbers) - 1))
        found = greater(found, CHANGE_GAIN);
    if (feeds_forward(task, seen, jump))
        found = greater(found, CHANGE_GOAL);
    for (int i = (int)(task->goal - task->numbers); i < task->length; i++)
        if (fabs(task->numbers[i] - seen[i]) > jump)
            found = greater(found, CHANGE_GOAL);
    return found;
}

static bool asks_for_force(const Task *task)
{
    return task->kind == TASK_EXTERNAL_FORCE || task->kind == TASK_INTERNAL_FORCE || task->kind == TASK_CONTACT_FORCE;
}

Change find_changes(const Problem *problem, double *seen, double motion_jump, double force_jump)
{
    Change found = CHANGE_NONE;
    for (int index = 0; index < problem->task_count; index++) {
        const Task *task = problem->tasks[index].task;
        found = greater(found, change_of_task(task, seen, asks_for_force(task) ? force_jump : motion_jump));
        for (int i = 0; i < task->length; i++)
            seen[i] = task->numbers[i];
        seen += task->length;
    }
    for (int index = 0; index < problem->constraint_count; index++) {
        const Constraint *constraint = problem->constraints[index].constraint;
        if (differ(constraint->numbers, seen, constraint->length))
            found = CHANGE_CONTACT;
        for (int i = 0; i < constraint->length; i++)
            seen[i] = constraint->numbers[i];
        seen += constraint->length;
    }
    return found;
}
