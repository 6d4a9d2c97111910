/* mobility.c - how easily rows are moved by what constraints and motors leave, to measure others with.
 *
 * Rows of one task and one unit are measured together, by the longest of them: the hand's in its best direction, say. A
 * joint is measured by itself. Of all rows of a level, the least mobile counts. What constraints hold altogether does
 * not. */
#include <math.h>

#include "wholebody/control/wbosc.h"

enum { TURNING = 3 }; /* rows of a task from here on are of another unit: they turn, those before them move */

/* The blocks of one task's columns, and what is left of the longest in each, if it is more than rounding. */
static void measure_task(Wbosc *wbosc, const Task *task, int first, int end)
{
    const Chain *chain = &wbosc->levels;
    const int *source = wbosc->rows.source;
    Mobility mobility = wbosc->mobility;
    bool alone = task->kind == TASK_JOINT_POSITION || task->kind == TASK_JOINT_LIMITS;
    int begun = first;
    for (int c = first; c < end; c++) {
        bool turns = task->kind != TASK_CUSTOM && source[c] >= TURNING;
        if (alone || (turns && source[begun] < TURNING))
            begun = c;
        mobility.block[c] = begun;
        mobility.mobile[c] = 0.0;
        if (chain->left[c] > wbosc->settings->hard_tolerance * chain->size[c])
            mobility.mobile[begun] = fmax(mobility.mobile[begun], chain->left[c]);
    }
}

void measure_mobility(Wbosc *wbosc)
{
    const Problem *problem = wbosc->problem;
    const ProblemRows *rows = &wbosc->rows;
    int last = rows->first_of_level[problem->level_count], end = last;
    for (int index = problem->task_count - 1; index >= 0; index--) {
        int first = rows->first_of_task[index];
        if (first < 0)
            continue;
        measure_task(wbosc, problem->tasks[index].task, first, end);
        end = first;
    }
    for (int c = end; c < last; c++)
        wbosc->mobility.mobile[c] = wbosc->mobility.mobile[wbosc->mobility.block[c]];
}

double level_mobility(const Wbosc *wbosc, int first, int end)
{
    double smallest = INFINITY;
    for (int c = first; c < end; c++)
        if (wbosc->mobility.mobile[c] > 0.0)
            smallest = fmin(smallest, wbosc->mobility.mobile[c]);
    return smallest < INFINITY ? smallest : 0.0;
}
