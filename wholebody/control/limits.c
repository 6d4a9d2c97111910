/* limits.c - where joints will be after a period, and commands cut at what joints can do. */
#include "wholebody/control/problem.h"

static double between(double value, double lower, double upper)
{
    double above = value < lower ? lower : value;
    return above > upper ? upper : above;
}

/* v' = v + dv/dt period, q' = q + v' period. */
void enforce_limits(const Problem *problem, const Snapshot *now, Enforced enforced, Output out)
{
    int joints = problem->joints, base = problem->base, shift = problem->tree->nq - problem->nv;
    const double *lower = enforced.limits, *upper = lower + joints, *fastest = upper + joints,
                 *strongest = fastest + joints;
    for (int i = 0; i < joints; i++) {
        double velocity = now->v[base + i] + enforced.period * out.acceleration[base + i];
        double position = now->q[base + shift + i] + enforced.period * velocity;
        out.unlimited_effort[i] = out.effort[i];
        out.unlimited_position[i] = position;
        out.unlimited_velocity[i] = velocity;
        out.velocity[i] = enforced.velocity ? between(velocity, -fastest[i], fastest[i]) : velocity;
        out.position[i] = enforced.position ? between(position, lower[i], upper[i]) : position;
        if (enforced.effort)
            out.effort[i] = between(out.effort[i], -strongest[i], strongest[i]);
    }
}
