/* contacts.c - ContactDetector: flags with hysteresis and debounce, and a probability. */
#include <math.h>

#include "wholebody/estimation/estimation.h"

static const double ROUNDING = 1e-9; /* s */

/* The flag changes when the force is beyond a threshold, another one each way, for a while without a break. */
static void touch(const ContactDetector *detector, int foot, double force, double dt)
{
    const ContactSettings *settings = detector->settings;
    bool other = detector->contact[foot] != 0.0 ? force < settings->leaves : force > settings->touches;
    detector->differs_for[foot] = other ? detector->differs_for[foot] + dt : 0.0;
    if (other && detector->differs_for[foot] >= settings->debounce - ROUNDING) {
        detector->contact[foot] = 1.0 - detector->contact[foot];
        detector->differs_for[foot] = 0.0;
    }
}

/* A foot that stands is firm once its centre of pressure, (-m_y, m_x) / f_z, has been well within the sole for a while,
 * as long as it is there. */
static void settle(const ContactDetector *detector, int foot, const double wrench[6], double dt)
{
    const ContactSettings *settings = detector->settings;
    const double *edges = detector->edges + 3 * foot * detector->edges_each;
    bool flat = detector->contact[foot] != 0.0 && wrench[2] > settings->leaves;
    double x = flat ? -wrench[4] / wrench[2] : 0.0, y = flat ? wrench[3] / wrench[2] : 0.0;
    for (int i = 0; i < detector->edges_each; i++)
        flat = flat && edges[3 * i] * x + edges[3 * i + 1] * y <= edges[3 * i + 2];
    detector->flat_for[foot] = flat ? detector->flat_for[foot] + dt : 0.0;
    bool firm = detector->firm[foot] != 0.0 || detector->flat_for[foot] >= settings->settles - ROUNDING;
    detector->firm[foot] = flat && firm ? 1.0 : 0.0;
}

/* The forward step of a hidden Markov model with two states, seen through the force: normal about zero in the air,
 * about `loaded` on the ground. The odds are the ratio of two normal densities of the same deviation. */
static double believed_probability(const ContactSettings *settings, double before, double force, double dt)
{
    double change = 0.5 * (1.0 - exp(-2.0 * settings->changes * dt));
    double p = before * (1.0 - change) + (1.0 - before) * change;
    double odds = settings->loaded * (force - 0.5 * settings->loaded) / (settings->deviation * settings->deviation);
    odds = fmin(30.0, fmax(-30.0, odds)) + log(p / (1.0 - p));
    return fmin(1.0 - 1e-9, fmax(1e-9, 1.0 / (1.0 + exp(-odds))));
}

void detect_contacts(const ContactDetector *detector, double (*wrench)[6], double dt)
{
    for (int foot = 0; foot < detector->feet; foot++) {
        touch(detector, foot, wrench[foot][2], dt);
        settle(detector, foot, wrench[foot], dt);
        detector->probability[foot] =
            believed_probability(detector->settings, detector->probability[foot], wrench[foot][2], dt);
    }
}
