/* contact_forces.c - tasks on the forces of contacts, as rows on lambda. */
#include "wholebody/control/problem.h"

bool acts_on_forces(const ProblemTask *each, const ProblemRows *rows)
{
    if (!is_force_task(each->task) || state_of_task(each->task) != ENABLED)
        return false;
    return rows->first_of_constraint[each->contact[0]] >= 0 &&
           (each->contact[1] < 0 || rows->first_of_constraint[each->contact[1]] >= 0);
}

int count_force_tasks(const Problem *problem, const ProblemRows *rows)
{
    int total = 0;
    for (int index = 0; problem->force_rows > 0 && index < problem->task_count; index++)
        if (acts_on_forces(&problem->tasks[index], rows))
            total += problem->tasks[index].task->rows;
    return total;
}

/* Moments about the goal that shall vanish. */
static void fill_pressure(const Task *task, double placement[4][4], int row, Columns A, double *wanted, int at)
{
    size_t width = (size_t)A.width;
    double (*into)[width] = (double (*)[width])A.at, B[2][6];
    center_of_pressure_rows(placement, task->goal, B);
    for (int r = 0; r < 2; r++) {
        for (int k = 0; k < 6; k++)
            into[row + k][at + r] = B[r][k];
        wanted[at + r] = 0.0;
    }
}

/* The force in the axes of the contact's frame: R^T f = goal. */
static void fill_contact_force(const Task *task, double placement[4][4], int row, Columns A, double *wanted, int at)
{
    size_t width = (size_t)A.width;
    double (*into)[width] = (double (*)[width])A.at;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++)
            into[row + k][at + r] = placement[k][r];
        wanted[at + r] = task->goal[r];
    }
}

void fill_force_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, Columns A, double *wanted,
                      int first)
{
    size_t width = (size_t)A.width;
    double (*into)[width] = (double (*)[width])A.at;
    int at = first;
    for (int index = 0; index < problem->task_count; index++) {
        const ProblemTask *each = &problem->tasks[index];
        if (!acts_on_forces(each, rows))
            continue;
        int frame = contact_frame(problem, each, 0), a = rows->first_of_constraint[each->contact[0]];
        if (each->task->kind == TASK_CENTER_OF_PRESSURE) {
            fill_pressure(each->task, now->placement[frame], a, A, wanted, at);
        } else if (each->task->kind == TASK_CONTACT_FORCE) {
            fill_contact_force(each->task, now->placement[frame], a, A, wanted, at);
        } else {
            int b = rows->first_of_constraint[each->contact[1]];
            double row[3];
            internal_force_row(now, frame, contact_frame(problem, each, 1), row);
            for (int k = 0; k < 3; k++) {
                into[a + k][at] = -row[k];
                into[b + k][at] = row[k];
            }
            wanted[at] = each->task->goal[0];
        }
        at += each->task->rows;
    }
}
