/* closed_form_nearest.c - the nearest pose within the limits of the joints, where no branch may be used as it is.
 *
 * Each branch is a start: a joint beyond its limits stops at the one that is nearer round the circle. From there, damped
 * Gauss-Newton steps within the box of the limits lower
 *
 *     E^2 = |p* - p|^2 + (l theta)^2,
 *
 * where theta is the angle between the orientations and l how many metres a radian counts. Every start gets a few
 * steps, the best of them as many as it takes. A step that does not lower E is not taken, so no answer is worse than its
 * start. */
#include <math.h>
#include <string.h>

#include "wholebody/kinematics/closed_form.h"
#include "wholebody/kinematics/closed_form_angles.h"
#include "wholebody/kinematics/least_squares.h"

enum { FEW_STEPS = 6, MANY_STEPS = 60, POLISHED = 2 /* starts that get many steps */ };

static const double GENTLE = 1e-10, ROUGH = 1e4; /* the damping at least and at most, m^2 */
static const double DONE = 1e-11;                /* m: an error below it is none */
static const double STILL = 1e-9;                /* rad: so small a step is the last one */
static const double SAME = 1e-9;                 /* m: errors nearer than that are alike, and the posture decides */

/* The rotation vector from one orientation to another, in the axes of the base; its length. */
double rotation_between(const double pose[16], const double goal[16], double rotation[3])
{
    Vector3 x = {goal[0], goal[1], goal[2]}, y = {goal[4], goal[5], goal[6]}, z = {goal[8], goal[9], goal[10]};
    Vector3 a = {pose[0], pose[1], pose[2]}, b = {pose[4], pose[5], pose[6]};
    Vector3 first = {dot(x, a), dot(y, a), dot(z, a)}, second = {dot(x, b), dot(y, b), dot(z, b)};
    Vector3 third = cross(first, second);
    const double R[9] = {first.x, second.x, third.x, first.y, second.y, third.y, first.z, second.z, third.z};
    double q[4];
    quaternion_of_matrix(R, q);
    double sine = norm3(q), angle = 2.0 * arctangent(sine, fabs(q[3]));
    double scale = sine == 0.0 ? 0.0 : (q[3] >= 0.0 ? angle / sine : -angle / sine);
    for (int k = 0; k < 3; k++)
        rotation[k] = scale * q[k];
    return angle;
}

/* Fill in the error, in m: position, then rotation times l; E. */
static double errors(const double pose[16], const double goal[16], double length, double e[6])
{
    double rotation[3], total = 0.0;
    rotation_between(pose, goal, rotation);
    for (int k = 0; k < 3; k++) {
        e[k] = goal[4 * k + 3] - pose[4 * k + 3];
        e[3 + k] = length * rotation[k];
        total += e[k] * e[k] + e[3 + k] * e[3 + k];
    }
    return sqrt(total);
}

/* How the tip moves with each joint, a row each: a x (p - point), l a, with axes as the joints before have them. */
static void fill_rows(const ClosedForm *chain, const double *joints, const double pose[16], double length,
                      double J[MOST_JOINTS][6])
{
    Vector3 tip = {pose[3], pose[7], pose[11]};
    double cosine[MOST_JOINTS], sine[MOST_JOINTS];
    for (int k = 0; k < chain->joints; k++) {
        cosine[k] = cos(joints[k]);
        sine[k] = sin(joints[k]);
        Vector3 axis = chain->line[k].axis, point = chain->line[k].point;
        for (int before = k - 1; before >= 0; before--) {
            const JointLine *line = &chain->line[before];
            axis = turned(axis, line->axis, cosine[before], sine[before]);
            point = turned_about(point, line->point, line->axis, cosine[before], sine[before]);
        }
        Vector3 linear = cross(axis, minus(tip, point));
        const double row[6] = {linear.x, linear.y, linear.z, length * axis.x, length * axis.y, length * axis.z};
        memcpy(J[k], row, sizeof row);
    }
}

/* The joints after a step of damped least squares, within limits; the largest move. */
static double try_step(const ClosedForm *chain, const double *joints, double J[MOST_JOINTS][6], const double e[6],
                       double damping, double *trial)
{
    static const double ones[MOST_JOINTS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, still[MOST_JOINTS] = {0.0};
    int n = (int)chain->joints;
    double lower[MOST_JOINTS], upper[MOST_JOINTS], step[MOST_JOINTS], A[36], y[6], largest = 0.0;
    int64_t stopped[MOST_JOINTS];
    for (int k = 0; k < n; k++) {
        lower[k] = chain->lower[k] - joints[k];
        upper[k] = chain->upper[k] - joints[k];
    }
    BoxedLeastSquares problem = {n, 6, J[0], e, ones, still, damping, lower, upper};
    boxed_step(&problem, &(StepMemory){A, y, stopped}, step);
    for (int k = 0; k < n; k++) {
        trial[k] = fmin(fmax(joints[k] + step[k], chain->lower[k]), chain->upper[k]);
        largest = fmax(largest, fabs(trial[k] - joints[k]));
    }
    return largest;
}

/* Lower E from joints within the limits, in place, in so many steps at most; E. */
static double refine(const ClosedForm *chain, const double goal[16], double length, int steps, double *joints)
{
    double J[MOST_JOINTS][6], e[6], trial_e[6], pose[16], trial[MOST_JOINTS];
    size_t size = sizeof(double) * (size_t)chain->joints;
    forward_kinematics(chain, joints, pose);
    double best = errors(pose, goal, length, e), damping = 1e-3 * best * best + GENTLE;
    bool fresh = true;
    for (int count = 0; count < steps && !(best < DONE); count++) {
        if (fresh)
            fill_rows(chain, joints, pose, length, J);
        double largest = try_step(chain, joints, J, e, damping, trial);
        forward_kinematics(chain, trial, pose);
        double now = errors(pose, goal, length, trial_e);
        fresh = now < best;
        if (fresh) {
            memcpy(joints, trial, size);
            memcpy(e, trial_e, sizeof e);
            best = now;
            damping = fmax(0.1 * damping, GENTLE);
        } else {
            damping *= 8.0;
        }
        if (largest < STILL || damping > ROUGH)
            break;
    }
    return best;
}

/* Joints to start from, and E of what came of them. */
typedef struct {
    double joints[MOST_JOINTS];
    double cost;
} Attempt;

/* The attempts with least E to the front, and as many steps for them as it takes. */
static void polish(const ClosedForm *chain, const double goal[16], double radian, int count, Attempt *attempts)
{
    for (int rank = 0; rank < POLISHED && rank < count; rank++) {
        int best = rank;
        for (int i = rank + 1; i < count; i++)
            if (attempts[i].cost < attempts[best].cost)
                best = i;
        Attempt taken = attempts[best];
        attempts[best] = attempts[rank];
        taken.cost = refine(chain, goal, radian, MANY_STEPS, taken.joints);
        attempts[rank] = taken;
    }
}

/* Joints within the limits with the least E, from every branch and from the posture. Of those that are alike, the one
 * nearest to the posture. */
void nearest_within_limits(const ClosedForm *chain, const double goal[16], Choice choice, const Branches *found,
                           double *joints)
{
    int n = (int)chain->joints, count = found->count + 1, best = 0;
    Attempt attempts[MOST_BRANCHES + 1];
    for (int i = 0; i < count; i++) {
        const double *start = i == found->count ? choice.near : found->branch[i].joints;
        for (int k = 0; k < n; k++) {
            double lower = chain->lower[k], upper = chain->upper[k];
            bool inside = !(start[k] < lower || start[k] > upper);
            attempts[i].joints[k] = inside ? start[k] : nearer_limit(start[k], lower, upper);
        }
        attempts[i].cost = refine(chain, goal, choice.radian, FEW_STEPS, attempts[i].joints);
    }
    polish(chain, goal, choice.radian, count, attempts);
    double least = INFINITY, nearest = INFINITY;
    for (int i = 0; i < count; i++)
        least = fmin(least, attempts[i].cost);
    for (int i = 0; i < count; i++) {
        double way = 0.0;
        for (int k = 0; k < n; k++)
            way += (attempts[i].joints[k] - choice.near[k]) * (attempts[i].joints[k] - choice.near[k]);
        if (attempts[i].cost <= least + SAME && way < nearest)
            best = i, nearest = way;
    }
    memcpy(joints, attempts[best].joints, sizeof(double) * (size_t)n);
}
