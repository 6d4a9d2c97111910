/* closed_form.c - forward kinematics of a chain, all branches of a pose, and which of them to take. */
#include "wholebody/kinematics/closed_form.h"

#include <math.h>
#include <string.h>

#include "wholebody/kinematics/closed_form_angles.h"

static const double ROTATION_SLACK = 1e-6;
static const double SAME_TURN = 1e-6; /* rad: orientations nearer than that are alike */

/* T = e1 e2 ... M: from the tip to the base, each column and the origin turned by each joint. */
void forward_kinematics(const ClosedForm *chain, const double *joints, double pose[16])
{
    const double *M = chain->home;
    Vector3 x = {M[0], M[4], M[8]}, y = {M[1], M[5], M[9]}, p = {M[3], M[7], M[11]};
    for (int k = (int)chain->joints - 1; k >= 0; k--) {
        const JointLine *line = &chain->line[k];
        double c = cos(joints[k]), s = sin(joints[k]);
        x = turned(x, line->axis, c, s);
        y = turned(y, line->axis, c, s);
        p = turned_about(p, line->point, line->axis, c, s);
    }
    Vector3 z = cross(x, y);
    const double T[16] = {x.x, y.x, z.x, p.x, x.y, y.y, z.y, p.y, x.z, y.z, z.z, p.z, 0.0, 0.0, 0.0, 1.0};
    memcpy(pose, T, sizeof T);
}

/* Whether a 4 x 4 matrix is a rotation and a translation, to 1e-6; NaN is none. */
static bool is_pose(const double T[16])
{
    Vector3 x = {T[0], T[4], T[8]}, y = {T[1], T[5], T[9]}, z = {T[2], T[6], T[10]};
    double last_row = fabs(T[12]) + fabs(T[13]) + fabs(T[14]) + fabs(T[15] - 1.0);
    double lengths = fabs(dot(x, x) - 1.0) + fabs(dot(y, y) - 1.0) + fabs(dot(z, z) - 1.0);
    double angles = fabs(dot(x, y)) + fabs(dot(y, z)) + fabs(dot(z, x));
    double position = fabs(T[3]) + fabs(T[7]) + fabs(T[11]);
    return last_row + lengths + angles < ROTATION_SLACK && position < INFINITY && dot(cross(x, y), z) > 0.0;
}

bool all_branches(const ClosedForm *chain, const double pose[16], const double *near, double swivel, Branches *found)
{
    found->count = 0;
    if (!is_pose(pose))
        return false;
    if (chain->joints == 6)
        branches_of_six(chain, pose, near, found);
    else
        branches_of_few(chain, pose, near, swivel, found);
    return true;
}

void keep_within_limits(Branches *found)
{
    int kept = 0;
    for (int i = 0; i < found->count; i++)
        if (found->branch[i].within_limits)
            found->branch[kept++] = found->branch[i];
    found->count = kept;
}

void keep_nearest(Branches *found, double least)
{
    int kept = 0;
    for (int i = 0; i < found->count; i++)
        if (found->branch[i].distance <= least + POSITION_REACHED)
            found->branch[kept++] = found->branch[i];
    found->count = kept;
}

/* The branch nearest to a posture (least sum of squares) of those that reach the goal within limits. If they do not
 * all turn the tip alike (fewer than six joints), only those that turn it best. */
static int branch_to_take(const ClosedForm *chain, const Branches *found, const double *near)
{
    double least_turn = INFINITY, least = INFINITY;
    int best = -1;
    for (int i = 0; i < found->count; i++) {
        const Branch *branch = &found->branch[i];
        if (branch->within_limits && branch->distance <= POSITION_REACHED && branch->turn < least_turn)
            least_turn = branch->turn;
    }
    for (int i = 0; i < found->count; i++) {
        const Branch *branch = &found->branch[i];
        if (!branch->within_limits || branch->distance > POSITION_REACHED || branch->turn > least_turn + SAME_TURN)
            continue;
        double cost = 0.0;
        for (int k = 0; k < chain->joints; k++)
            cost += (branch->joints[k] - near[k]) * (branch->joints[k] - near[k]);
        if (cost < least)
            best = i, least = cost;
    }
    return best;
}

/* Joints of a branch that is within limits but for the slack, to the last digit. */
static void take_branch(const ClosedForm *chain, const Branch *branch, double *joints)
{
    for (int k = 0; k < chain->joints; k++) {
        double value = branch->joints[k] > chain->lower[k] ? branch->joints[k] : chain->lower[k];
        joints[k] = value < chain->upper[k] ? value : chain->upper[k];
    }
}

NearestVerdict nearest_joints(const ClosedForm *chain, const double goal[16], Choice choice, NearestPose *answer)
{
    Branches found;
    double rotation[3];
    for (int k = 0; k < chain->joints; k++)
        if (!isfinite(choice.near[k]))
            return NEAREST_BAD_POSTURE;
    if (!all_branches(chain, goal, choice.near, choice.swivel, &found))
        return NEAREST_NO_POSE;
    int best = branch_to_take(chain, &found, choice.near);
    if (best >= 0)
        take_branch(chain, &found.branch[best], answer->joints);
    else
        nearest_within_limits(chain, goal, choice, &found, answer->joints);
    forward_kinematics(chain, answer->joints, answer->pose);
    Vector3 away = {goal[3] - answer->pose[3], goal[7] - answer->pose[7], goal[11] - answer->pose[11]};
    answer->distance = norm(away);
    answer->turn = rotation_between(answer->pose, goal, rotation);
    return NEAREST_FOUND;
}
