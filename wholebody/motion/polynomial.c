/* polynomial.c - PiecewisePolynomial at some times; by Horner's rule, value and two derivatives in one pass. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "wholebody/motion/motion.h"

/* The last piece that begins at t or before. */
static int piece_at(const Polynomials *polynomials, double t)
{
    int low = 0, high = polynomials->pieces - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (polynomials->times[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void evaluate_polynomials(const Polynomials *polynomials, const double *asked, int count, double *result)
{
    size_t numbers = (size_t)polynomials->numbers, rows = (size_t)count, powers = (size_t)polynomials->powers;
    double first = polynomials->times[0], last = polynomials->times[polynomials->pieces];
    for (size_t row = 0; row < rows; row++) {
        bool outside = asked[row] < first || asked[row] > last;
        double t = fmin(fmax(asked[row], first), last);
        int piece = piece_at(polynomials, t);
        double s = t - polynomials->times[piece];
        const double *c = polynomials->coefficients + (size_t)piece * powers * numbers;
        for (size_t i = 0; i < numbers; i++) {
            double x = 0.0, v = 0.0, a = 0.0;
            for (size_t k = powers; k-- > 0;) {
                a = a * s + 2.0 * v;
                v = v * s + x;
                x = x * s + c[k * numbers + i];
            }
            result[row * numbers + i] = x;
            result[(rows + row) * numbers + i] = outside ? 0.0 : v;
            result[(2 * rows + row) * numbers + i] = outside ? 0.0 : a;
        }
    }
}
