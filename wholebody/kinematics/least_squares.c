/* least_squares.c - damped least squares within a box, by block principal pivoting. */
#include "wholebody/kinematics/least_squares.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* How often a step is solved anew because joints ran into their limits, or want to leave them; all of them change sides
 * at once, until that has not made them fewer so many times: then one by one, which always ends. */
enum { ROUNDS = 40, TRIES = 3 };

enum { AT_LOWER = 1, AT_UPPER = 2, MISPLACED = 4 };

static const double TURNING_BACK = 1e-12;

/* y <- A^-1 y for a symmetric positive definite A, of which the lower half is given and overwritten. */
static void cholesky_solve(int m, double *numbers, double *y)
{
    double (*A)[m] = (double (*)[m])numbers;
    for (int j = 0; j < m; j++) {
        double square = A[j][j];
        for (int k = 0; k < j; k++)
            square -= A[j][k] * A[j][k];
        A[j][j] = sqrt(square > 1e-300 ? square : 1e-300);
        for (int i = j + 1; i < m; i++) {
            double total = A[i][j];
            for (int k = 0; k < j; k++)
                total -= A[i][k] * A[j][k];
            A[i][j] = total / A[j][j];
        }
    }
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++)
            y[i] -= A[i][k] * y[k];
        y[i] /= A[i][i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++)
            y[i] -= A[k][i] * y[k];
        y[i] /= A[i][i];
    }
}

/* A = J W^-1 J^T + damping of the variables that are free, and y = e - J d of what is done already. */
static void fill(const BoxedLeastSquares *problem, const StepMemory *memory, const double *step)
{
    int n = problem->n, m = problem->m;
    const double *J = problem->J;
    double (*A)[m] = (double (*)[m])memory->A, *y = memory->y;
    for (int i = 0; i < m; i++) {
        y[i] = problem->error[i];
        memset(A[i], 0, sizeof(double) * (size_t)i);
        A[i][i] = problem->damping;
    }
    for (int z = 0; z < n; z++, J += m) {
        double done = memory->stopped[z] ? step[z] : problem->preferred[z];
        if (done != 0.0)
            for (int i = 0; i < m; i++)
                y[i] -= J[i] * done;
        if (memory->stopped[z])
            continue;
        for (int i = 0; i < m; i++) {
            double scaled = problem->mobility[z] * J[i];
            if (scaled != 0.0)
                for (int j = 0; j <= i; j++)
                    A[i][j] += scaled * J[j];
        }
    }
}

/* d = preferred + W^-1 J^T y of the free variables; marks those on the wrong side of a limit and counts them. */
static int mark_misplaced(const BoxedLeastSquares *problem, const StepMemory *memory, double *step)
{
    const double *J = problem->J;
    int wrong = 0;
    for (int z = 0; z < problem->n; z++, J += problem->m) {
        double total = problem->preferred[z];
        bool misplaced;
        for (int i = 0; i < problem->m; i++)
            total += problem->mobility[z] * J[i] * memory->y[i];
        if (memory->stopped[z] == AT_LOWER) {
            misplaced = total > step[z] + TURNING_BACK;
        } else if (memory->stopped[z] == AT_UPPER) {
            misplaced = total < step[z] - TURNING_BACK;
        } else {
            step[z] = total;
            misplaced = total < problem->lower[z] || total > problem->upper[z];
        }
        if (misplaced) {
            wrong++;
            memory->stopped[z] += MISPLACED;
        }
    }
    return wrong;
}

/* Stop what is misplaced among the free at its limit, and free what is misplaced at a limit: all, or the last. */
static void exchange(const BoxedLeastSquares *problem, int64_t *stopped, double *step, bool only_last)
{
    for (int z = problem->n - 1; z >= 0; z--) {
        if (stopped[z] < MISPLACED)
            continue;
        stopped[z] -= MISPLACED;
        if (only_last)
            for (int k = 0; k < z; k++)
                stopped[k] %= MISPLACED;
        if (stopped[z]) {
            stopped[z] = 0;
        } else if (step[z] < problem->lower[z]) {
            step[z] = problem->lower[z];
            stopped[z] = AT_LOWER;
        } else {
            step[z] = problem->upper[z];
            stopped[z] = AT_UPPER;
        }
    }
}

/* The regularised, weighted pseudo-inverse of Eq. 4.10, with a preferred step in the null space, within lower and upper.
 *
 * d = preferred + W^-1 J^T (J W^-1 J^T + damping)^-1 (e - J preferred): of all steps that bring the goals nearer, the one nearest
 * to the preferred one. A joint that would leave its limits stops there, and the others make up for it; if then it would rather
 * turn back, it is let go: the best step within the box. */
void boxed_step(const BoxedLeastSquares *problem, const StepMemory *memory, double *step)
{
    int fewest = problem->n + 1, patience = TRIES;
    for (int z = 0; z < problem->n; z++)
        memory->stopped[z] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        fill(problem, memory, step);
        cholesky_solve(problem->m, memory->A, memory->y);
        int wrong = mark_misplaced(problem, memory, step);
        if (wrong == 0)
            return;
        patience = wrong < fewest ? TRIES : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
        exchange(problem, memory->stopped, step, patience < 0);
    }
    for (int z = 0; z < problem->n; z++)
        step[z] = fmin(fmax(step[z], problem->lower[z]), problem->upper[z]);
}

/* The Jacobian transpose: d = a W^-1 J^T e with a = e.f / f.f, f = J W^-1 J^T e; joints stop at their limits. */
void transposed_step(const BoxedLeastSquares *problem, double *y, double *step)
{
    int n = problem->n, m = problem->m;
    const double *J = problem->J;
    memset(y, 0, sizeof(double) * (size_t)m);
    for (int z = 0; z < n; z++, J += m) {
        double total = 0.0;
        for (int i = 0; i < m; i++)
            total += J[i] * problem->error[i];
        step[z] = problem->mobility[z] * total;
        if ((step[z] < 0.0 && problem->lower[z] >= 0.0) || (step[z] > 0.0 && problem->upper[z] <= 0.0))
            step[z] = 0.0;
        for (int i = 0; i < m; i++)
            y[i] += J[i] * step[z];
    }
    double along = 0.0, square = problem->damping;
    for (int i = 0; i < m; i++) {
        along += y[i] * problem->error[i];
        square += y[i] * y[i];
    }
    double alpha = along / fmax(square, 1e-300);
    for (int z = 0; z < n; z++)
        step[z] = fmin(fmax(alpha * step[z], problem->lower[z]), problem->upper[z]);
}

/* Scale a step so that nothing moves further than the locality threshold; the largest move. */
double keep_local(int n, double *step, double locality)
{
    double largest = 0.0;
    for (int z = 0; z < n; z++)
        largest = fmax(largest, fabs(step[z]));
    if (largest > locality)
        for (int z = 0; z < n; z++)
            step[z] *= locality / largest;
    return fmin(largest, locality);
}

/* |e - J d|^2: what the error would be after a step, were the robot linear. */
double predicted_error(const BoxedLeastSquares *problem, const double *step, double *y)
{
    int n = problem->n, m = problem->m;
    const double *J = problem->J;
    memcpy(y, problem->error, sizeof(double) * (size_t)m);
    for (int z = 0; z < n; z++, J += m)
        if (step[z] != 0.0)
            for (int i = 0; i < m; i++)
                y[i] -= J[i] * step[z];
    double total = 0.0;
    for (int i = 0; i < m; i++)
        total += y[i] * y[i];
    return total;
}
