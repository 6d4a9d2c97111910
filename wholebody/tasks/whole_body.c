/* whole_body.c - tasks on a quantity of the whole body, of which some components count: centre of mass, momentum. */
#include "wholebody/tasks/tasks.h"

/* A quantity of the body: value, rate, bias, and the Jacobian of `size` rows. */
typedef struct {
    int size;
    const double *value, *velocity, *bias, *jacobian;
} Quantity;

/* A row for each component whose bit is set: e = goal - value. */
static int fill_components(const Task *task, const Tree *tree, Quantity quantity, TaskColumns out)
{
    size_t nv = (size_t)tree->nv, width = (size_t)out.J.width;
    double (*J)[width] = (double (*)[width])out.J.at;
    const double (*jacobian)[nv] = (const double (*)[nv])quantity.jacobian;
    int row = 0;
    for (int k = 0; k < quantity.size; k++) {
        if (!(task->mask & (1 << k)))
            continue;
        for (size_t j = 0; j < nv && J; j++)
            J[j][row] = jacobian[k][j];
        out.error[row] = task->goal[k] - quantity.value[k];
        out.velocity[row] = quantity.velocity[k];
        out.bias[row] = quantity.bias[k];
        out.source[row] = k;
        row++;
    }
    return row;
}

/* Its numbers: goal, in the world. */
int fill_center_of_mass(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    Quantity com = {3, now->com, now->com_velocity, now->com_bias, now->com_jacobian};
    return fill_components(task, tree, com, out);
}

/* Its numbers: goal, linear before angular. */
int fill_momentum(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out)
{
    Quantity momentum = {6, now->momentum, now->momentum, now->momentum_bias, now->momentum_matrix};
    return fill_components(task, tree, momentum, out);
}
