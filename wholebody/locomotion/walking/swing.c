/* swing.c - the foot that swings: along the ground the quintic of least jerk, up and down quintics between knots. */
#include "wholebody/locomotion/locomotion.h"

/* x(t) = p + v t + a t^2 / 2 + c3 t^3 + c4 t^4 + c5 t^5, at rest at the goal after T. */
void swing_foot(const FootSwing *swing, double since, double time)
{
    double T = swing->end - since, t = clamp(time - since, 0.0, T);
    double (*into)[3] = swing->derivatives;
    for (int i = 0; i < 3; i++) {
        double p = swing->state[0][i], v = swing->state[1][i], a = swing->state[2][i];
        double gap = swing->goal[i] - p - v * T - 0.5 * a * T * T;
        double gap_v = -v - a * T, gap_a = -a;
        double c3 = (10.0 * gap - 4.0 * gap_v * T + 0.5 * gap_a * T * T) / (T * T * T);
        double c4 = (-15.0 * gap + 7.0 * gap_v * T - gap_a * T * T) / (T * T * T * T);
        double c5 = (6.0 * gap - 3.0 * gap_v * T + 0.5 * gap_a * T * T) / (T * T * T * T * T);
        into[0][i] = p + t * (v + t * (0.5 * a + t * (c3 + t * (c4 + t * c5))));
        into[1][i] = v + t * (a + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)));
        into[2][i] = a + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5));
        into[3][i] = 6.0 * c3 + t * (24.0 * c4 + t * 60.0 * c5);
        into[4][i] = 24.0 * c4 + t * 120.0 * c5;
        into[5][i] = 120.0 * c5;
    }
}

/* From knot to knot with given heights and vertical velocities and no acceleration; before the first and after the last
 * the foot rests. */
double swing_height(const FootSwing *swing, double time)
{
    const double *times = swing->rise, *heights = times + swing->knots, *velocities = heights + swing->knots;
    int i = swing->knots - 2;
    while (i > 0 && times[i] > time)
        i--;
    double T = times[i + 1] - times[i], s = clamp((time - times[i]) / T, 0.0, 1.0);
    double p = heights[i], v = velocities[i] * T, w = velocities[i + 1] * T;
    double gap = heights[i + 1] - p - v, rise = w - v;
    double c3 = 10.0 * gap - 4.0 * rise, c4 = -15.0 * gap + 7.0 * rise, c5 = 6.0 * gap - 3.0 * rise;
    return p + s * (v + s * s * (c3 + s * (c4 + s * c5)));
}
