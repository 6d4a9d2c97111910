/* ground_contact.c - feet come down where the ground is, and not where it was planned to be; the body follows them. */
#include "wholebody/locomotion/locomotion.h"

#define SMOOTH 0.5   /* how far a force goes, in one cycle, to what is measured */
#define HALFWAY 0.5  /* share of a swing: a foot that is pressed before has not left yet */
#define NEARLY 0.85  /* share of a swing: a foot that lands later is where it shall be */

/* A foot that is planned to swing: its height follows the plan from where it started to where ground is expected, until
 * it touches; then it yields to the force. True if it touches before its time. */
static bool swing_down(const GroundGains *gains, GroundContact *contact, const GroundStep *step, int side)
{
    int other = 1 - side;
    if (!contact->swings[side]) {
        contact->swings[side] = 1.0, contact->down[side] = 0.0;
        contact->start_height = contact->heights[side];
        contact->duration = larger(step->phase_left, 1e-3);
        contact->sinking = 0.0;
    }
    double gone = 1.0 - step->phase_left / contact->duration, force = contact->forces[side];
    if (contact->down[side]) {
        contact->heights[side] += step->period * gains->give * larger(0.0, force - gains->touch);
        return false;
    }
    double way = gone * gone * (3.0 - 2.0 * gone), start = contact->start_height;
    contact->heights[side] =
        step->heights[side] + start + way * (contact->heights[other] + step->rises[side] - start);
    contact->down[side] = gone > HALFWAY && force > gains->touch;
    return contact->down[side] && gone < NEARLY;
}

/* A foot that is planned to bear: until it does, it sinks, and only the other bears. */
static void find_support(const GroundGains *gains, GroundContact *contact, GroundStep *step, int side)
{
    int other = 1 - side;
    if (contact->swings[side])
        contact->swings[side] = contact->down[side] = 0.0;
    if (contact->down[side])
        return;
    double lowest = contact->heights[other] + step->rises[side] - gains->deepest, force = contact->forces[side];
    if (force > gains->bears || contact->heights[side] < lowest) {
        contact->down[side] = 1.0;
    } else if (force < gains->touch) {
        contact->sinking += step->period * gains->descend;
        contact->heights[side] -= step->period * contact->sinking;
        step->support = other, step->left_share = 1.0 - other;
    }
}

bool find_ground(const GroundGains *gains, GroundContact *contact, GroundStep *step)
{
    bool early = false;
    int planned = step->support;
    for (int side = 0; side < 2; side++) {
        contact->forces[side] += SMOOTH * (step->wrench[side][2] - contact->forces[side]);
        if (planned == 1 - side)
            early = swing_down(gains, contact, step, side) || early;
        else
            find_support(gains, contact, step, side);
    }
    /* l'' = f^2 (goal - l) - 2 f l' */
    double goal = step->left_share * contact->heights[0] + (1.0 - step->left_share) * contact->heights[1];
    double follow = gains->follow, behind = goal - contact->level;
    contact->rising += step->period * follow * (follow * behind - 2.0 * contact->rising);
    contact->level += step->period * contact->rising;
    return early;
}
