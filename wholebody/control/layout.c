/* layout.c - where the memory of a problem's rows, and of what a controller hands back, begins. */
#include "wholebody/control/problem.h"

enum { ALIGNED = 32 };

static void *take(Arena *arena, size_t bytes)
{
    size_t at = arena->taken;
    arena->taken += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return arena->block ? arena->block + at : NULL;
}

double *take_numbers(Arena *arena, size_t count)
{
    return take(arena, (count > 0 ? count : 1) * sizeof(double));
}

int *take_integers(Arena *arena, size_t count)
{
    return take(arena, (count > 0 ? count : 1) * sizeof(int));
}

ProblemRows take_problem_rows(Arena *arena, const Problem *problem)
{
    size_t columns = (size_t)problem->most_columns;
    return (ProblemRows){
        .constraint_rows = 0,
        .first_of_constraint = take_integers(arena, (size_t)problem->constraint_count),
        .first_of_task = take_integers(arena, (size_t)problem->task_count),
        .first_of_level = take_integers(arena, (size_t)problem->level_count + 1),
        .constraint_bias = take_numbers(arena, (size_t)problem->constraint_rows),
        .error = take_numbers(arena, columns),
        .velocity = take_numbers(arena, columns),
        .bias = take_numbers(arena, columns),
        .force = take_numbers(arena, columns),
        .spring = take_numbers(arena, columns),
        .asked = take_numbers(arena, columns),
        .pull = take_numbers(arena, columns),
        .activation = take_numbers(arena, columns),
        .source = take_integers(arena, columns),
        .spare = take_numbers(arena, (size_t)problem->nv * ((size_t)problem->motion_rows + 1)),
    };
}

/* result.py has the same order. */
Output output_in(const Problem *problem, double *flat)
{
    int joints = problem->joints;
    double *acceleration = flat + 6 * joints, *contact = acceleration + problem->nv;
    return (Output){
        .effort = flat,
        .position = flat + joints,
        .velocity = flat + 2 * joints,
        .unlimited_effort = flat + 3 * joints,
        .unlimited_position = flat + 4 * joints,
        .unlimited_velocity = flat + 5 * joints,
        .acceleration = acceleration,
        .contact = contact,
        .error = contact + problem->constraint_rows,
    };
}
