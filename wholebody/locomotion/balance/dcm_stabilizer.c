/* dcm_stabilizer.c - feedback of the divergent component xi = c + c' / w, and the trunk that leans.
 *
 *     z* = z + (1 + k / w) (xi - xi_ref) + k_i int (xi - xi_ref), kept inside the support area,
 *     c'' = w^2 (c - z*) + k1 (c_measured - c) + k2 (c'_measured - c'). */
#include "wholebody/locomotion/locomotion.h"

#include <math.h>

static bool differ(const double one[2], const double other[2])
{
    return one[0] != other[0] || one[1] != other[1];
}

DcmVerdict feed_back_dcm(Polygon area, const DcmInput *input, const DcmGains *gains, DcmFeedback *feedback)
{
    double omega = input->omega, period = input->period, wanted[2], inside[2];
    for (int i = 0; i < 2; i++) {
        feedback->dcm[i] = input->com[i] + input->com_velocity[i] / omega;
        feedback->off[i] = feedback->dcm[i] - input->dcm[i];
        wanted[i] = input->zmp[i] + (1.0 + gains->proportional / omega) * feedback->off[i] +
                    gains->integral * feedback->integral[i];
    }
    nearest_inside(area, wanted, feedback->zmp);
    for (int i = 0; i < 2; i++) {
        if (gains->integral > 0.0)
            feedback->integral[i] += period * (feedback->off[i] - feedback->integral[i]);
        double drawn = gains->position * (input->com[i] - feedback->com[i]) +
                       gains->velocity * (input->com_velocity[i] - feedback->com_velocity[i]);
        double falls = omega * omega * (feedback->com[i] - feedback->zmp[i] + input->pull[i]);
        feedback->com_velocity[i] += period * (falls + drawn);
        feedback->com[i] += period * feedback->com_velocity[i];
    }
    nearest_inside(area, feedback->dcm, inside);
    return (DcmVerdict){differ(wanted, feedback->zmp), differ(inside, feedback->dcm)};
}

/* Turn the trunk towards where xi runs away: while it gains speed it pushes the other way. */
void lean_trunk(Trunk *trunk, const double push[2], double upright, double most, double period)
{
    for (int i = 0; i < 2; i++) {
        double back = 2.0 * upright * trunk->leaning[i] + upright * upright * trunk->lean[i];
        trunk->leaning[i] += period * (push[i] - back);
        trunk->lean[i] += period * trunk->leaning[i];
    }
    double size = hypot(trunk->lean[0], trunk->lean[1]);
    for (int i = 0; size > most && i < 2; i++) {
        trunk->lean[i] *= most / size;
        trunk->leaning[i] = 0.0;
    }
}
