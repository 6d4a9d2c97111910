/* pendulum.c - the centre of mass over a path of the zero moment point, in closed form.
 *
 * On a piece from t0 to t1, with z and its derivatives z^(k),
 *
 *     xi(t) = sum z^(k)(t) / w^k + C e^{w (t - t1)},   p(t) = sum z^(2k)(t) / w^2k + C/2 e^{w (t - t1)} + D e^{-w (t - t0)},
 *
 * C from the end backwards, where xi comes to rest at the last knot, D from the start forwards: no exponential grows. */
#include "wholebody/locomotion/locomotion.h"

#include <math.h>

/* z, sum z^(k) / w^k and sum z^(2k) / w^2k. */
typedef struct {
    double zmp, dcm, com;
} Particular;

/* The sums at a time after that at which the derivatives of z, along one axis, are those of a curve. */
static Particular particular(const double (*curve)[2], int axis, double time, double omega)
{
    Particular found = {0.0, 0.0, 0.0};
    double scale = 1.0;
    for (int k = 0; k < ORDERS; k++) {
        double derivative = 0.0;
        for (int j = ORDERS - 1; j >= k; j--)
            derivative = curve[j][axis] + derivative * time / (j - k + 1);
        if (k == 0)
            found.zmp = derivative;
        found.dcm += scale * derivative;
        if (k % 2 == 0)
            found.com += scale * derivative;
        scale /= omega;
    }
    return found;
}

/* C and D of each piece; the last row is for what comes after the last knot: C = 0. */
void solve_path(const ZmpPath *path, const double start[2])
{
    int last = path->count - 1;
    double omega = path->omega;
    for (int k = 0; k < 2; k++) {
        double dcm = path->curves[last][0][k];
        for (int i = last - 1; i >= 0; i--) {
            double T = path->times[i + 1] - path->times[i];
            double C = dcm - particular(path->curves[i], k, T, omega).dcm;
            path->coefficients[i][k] = C;
            dcm = particular(path->curves[i], k, 0.0, omega).dcm + C * exp(-omega * T);
        }
        path->coefficients[last][k] = 0.0;
        double com = start[k];
        for (int i = 0; i < last; i++) {
            double T = path->times[i + 1] - path->times[i];
            double half = 0.5 * path->coefficients[i][k], decay = exp(-omega * T);
            double D = com - particular(path->curves[i], k, 0.0, omega).com - half * decay;
            path->coefficients[i][2 + k] = D;
            com = particular(path->curves[i], k, T, omega).com + half + D * decay;
        }
        path->coefficients[last][2 + k] = com - path->curves[last][0][k];
    }
}

/* The piece at a time: the last one that began by then. */
static int piece_at(const ZmpPath *path, double time)
{
    int piece = path->count - 1;
    while (piece > 0 && path->times[piece] > time)
        piece--;
    return piece;
}

void evaluate_path(const ZmpPath *path, double time, PendulumState *now)
{
    int last = path->count - 1;
    double t = time < path->times[0] ? path->times[0] : time, omega = path->omega;
    int i = piece_at(path, t);
    double since = t - path->times[i];
    double growth = i < last ? exp(omega * (t - path->times[i + 1])) : 0.0, decay = exp(-omega * since);
    for (int k = 0; k < 2; k++) {
        double ahead = path->coefficients[i][k] * growth;
        Particular sums = particular(path->curves[i], k, since, omega);
        double com = sums.com + 0.5 * ahead + path->coefficients[i][2 + k] * decay;
        now->zmp[k] = sums.zmp;
        now->dcm[k] = sums.dcm + ahead;
        now->com[k] = com;
        now->com_velocity[k] = omega * (now->dcm[k] - com);
    }
}
