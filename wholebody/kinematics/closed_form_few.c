/* closed_form_few.c - the closed form of arms with four or five joints: position exactly, orientation as near as can be.
 *
 * A spherical shoulder with centre C, an elbow e4 and perhaps a last joint e5 whose axis goes through the tip, so that
 * it does not move it. The elbow makes the distance from C to the tip right, |e4 p - C| = |goal - C|, in two ways. The
 * shoulder brings the tip to the goal and may still turn everything by phi about the line g from C to the goal: the
 * swivel. As quaternions, the orientation is
 *
 *     (cos phi/2 + g sin phi/2) n (cos q5/2 + a5 sin q5/2),
 *
 * and its product with the goal's is [cos phi/2, sin phi/2] K [cos q5/2, sin q5/2]^T: the best phi and q5 are the first
 * singular vectors of K, two by two. Two signs of the elbow and two of the shoulder make four branches. */
#include <math.h>

#include "wholebody/kinematics/closed_form.h"
#include "wholebody/kinematics/closed_form_angles.h"

/* The goal: where it is from C, and its orientation without that of the tip at home, R M^-1. */
typedef struct {
    Vector3 towards;
    double length;
    double wanted[4];
    double swivel;
} Goal;

/* R0 turns u, e, e3 to g, f, f3: the tip's direction to the goal's, and the elbow to where it hangs down. */
typedef struct {
    Vector3 u, e, e3, g, f, f3;
} Start;

static const Vector3 DOWN = {0.0, 0.0, -1.0}, AHEAD = {1.0, 0.0, 0.0};

static double inner(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* The quaternion of a turn about an axis, by twice the angle. */
static void half_turn(Vector3 axis, double half, double result[4])
{
    double s = sin(half);
    result[0] = s * axis.x, result[1] = s * axis.y, result[2] = s * axis.z, result[3] = cos(half);
}

/* The quaternion of the rotation with these first two columns. */
static void quaternion_of_columns(Vector3 x, Vector3 y, double result[4])
{
    Vector3 z = cross(x, y);
    const double R[9] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
    quaternion_of_matrix(R, result);
}

/* The direction of a, or another if a is nearly zero. */
static Vector3 unit(Vector3 a, Vector3 otherwise)
{
    double length = norm(a);
    return length > FREE ? times(1.0 / length, a) : otherwise;
}

/* A unit vector perpendicular to a unit axis, as near as can be to the first of two directions that gives one. */
static Vector3 beside(Vector3 axis, Vector3 wanted, Vector3 otherwise)
{
    Vector3 a = across(wanted, axis);
    if (dot(a, a) < 1e-18)
        a = across(otherwise, axis);
    if (dot(a, a) < 1e-18)
        a = across(vector3(axis.y, axis.z, -axis.x), axis);
    return times(1.0 / norm(a), a);
}

static Goal goal_of(const ClosedForm *chain, const double T[16], double swivel)
{
    const Vector3 *M = chain->home_back;
    Vector3 row[3];
    for (int i = 0; i < 3; i++)
        row[i] = combined(vector3(T[4 * i], T[4 * i + 1], T[4 * i + 2]), M[0], M[1], M[2]);
    Goal goal = {.towards = minus(vector3(T[3], T[7], T[11]), chain->centre), .swivel = swivel};
    goal.length = norm(goal.towards);
    quaternion_of_columns(vector3(row[0].x, row[1].x, row[2].x), vector3(row[0].y, row[1].y, row[2].y), goal.wanted);
    return goal;
}

static Start start_of(const ClosedForm *chain, const Goal *goal, Vector3 u)
{
    const JointLine *elbow = &chain->line[3];
    Vector3 to_elbow = across(minus(elbow->point, chain->centre), elbow->axis); /* from C to its axis */
    Start start = {.u = unit(u, DOWN)};
    start.g = unit(goal->towards, start.u);
    start.e = beside(start.u, to_elbow, cross(elbow->axis, start.u));
    start.f = beside(start.g, DOWN, AHEAD);
    start.e3 = cross(start.u, start.e);
    start.f3 = cross(start.g, start.f);
    return start;
}

/* R0 a */
static Vector3 started(const Start *start, Vector3 a)
{
    Vector3 factors = {dot(start->u, a), dot(start->e, a), dot(start->e3, a)};
    return combined(factors, start->g, start->f, start->f3);
}

/* alpha, beta with the greatest [cos alpha, sin alpha] K [cos beta, sin beta]^T; of beta alone if alpha is no NaN, of
 * alpha alone if not both. */
static void best_turns(double K[2][2], bool both, double *alpha, double *beta)
{
    *beta = 0.0;
    if (!isnan(*alpha)) {
        double c = cos(*alpha), s = sin(*alpha);
        if (both)
            *beta = arctangent(c * K[0][1] + s * K[1][1], c * K[0][0] + s * K[1][0]);
    } else if (!both) {
        *alpha = arctangent(K[1][0], K[0][0]);
    } else {
        double sum = arctangent(K[1][0] + K[0][1], K[0][0] - K[1][1]);
        double difference = arctangent(K[1][0] - K[0][1], K[0][0] + K[1][1]);
        *alpha = 0.5 * (sum + difference);
        *beta = 0.5 * (sum - difference);
    }
}

/* Half the swivel, alpha, and half of q5, beta, that turn the tip best, q5 within its limits; how far, in rad, the tip
 * stays from the goal's orientation. */
static double turn_tip(const ClosedForm *chain, const Goal *goal, const Start *start, double q4, double near_last,
                       Angle *half_swivel, double *q5)
{
    const JointLine *elbow = &chain->line[3], *last = &chain->line[4];
    double first[4], bent[4], n[4], gn[4], K[2][2] = {{0.0}};
    quaternion_of_columns(started(start, vector3(1.0, 0.0, 0.0)), started(start, vector3(0.0, 1.0, 0.0)), first);
    half_turn(elbow->axis, 0.5 * q4, bent);
    quaternion_product(first, bent, n);
    const double g[4] = {start->g.x, start->g.y, start->g.z, 0.0};
    quaternion_product(g, n, gn);
    K[0][0] = inner(n, goal->wanted);
    K[1][0] = inner(gn, goal->wanted);
    bool both = chain->joints == 5;
    if (both) {
        const double a5[4] = {last->axis.x, last->axis.y, last->axis.z, 0.0};
        double n_last[4], gn_last[4];
        quaternion_product(n, a5, n_last);
        quaternion_product(gn, a5, gn_last);
        K[0][1] = inner(n_last, goal->wanted);
        K[1][1] = inner(gn_last, goal->wanted);
    }
    double alpha = 0.5 * goal->swivel, beta;
    best_turns(K, both, &alpha, &beta);
    if (both) {
        double lower = chain->lower[4], upper = chain->upper[4], value = placed(2.0 * beta, lower, upper, near_last);
        if (value < lower || value > upper) {
            beta = 0.5 * nearer_limit(value, lower, upper);
            if (isnan(goal->swivel)) {
                double c = cos(beta), s = sin(beta);
                alpha = arctangent(K[1][0] * c + K[1][1] * s, K[0][0] * c + K[0][1] * s);
            }
        }
    }
    *q5 = 2.0 * beta;
    *half_swivel = angle_of(alpha);
    double swivelled[4] = {half_swivel->sine * g[0], half_swivel->sine * g[1], half_swivel->sine * g[2],
                           half_swivel->cosine};
    double arm[4], wrist[4], reached[4], off[4];
    quaternion_product(swivelled, n, arm);
    half_turn(last->axis, beta, wrist);
    quaternion_product(arm, wrist, reached);
    for (int k = 0; k < 3; k++)
        reached[k] = -reached[k];
    quaternion_product(reached, goal->wanted, off);
    return 2.0 * arctangent(norm3(off), fabs(off[3]));
}

/* Both ways to turn the shoulder: e1 e2 e3 = Rot(g, phi) R0. */
static EulerAngles turn_shoulder(const ClosedForm *chain, const Start *start, Angle half_swivel, double free)
{
    const Vector3 *F1 = chain->frame_1;
    double c = half_swivel.cosine, s = half_swivel.sine, cosine = c * c - s * s, sine = 2.0 * c * s;
    Vector3 v = turned(started(start, chain->frame_3[1]), start->g, cosine, sine);
    Vector3 w = turned(started(start, chain->frame_3[2]), start->g, cosine, sine);
    return euler_angles(vector3(dot(F1[0], v), dot(F1[1], v), dot(F1[2], v)),
                        vector3(dot(F1[0], w), dot(F1[1], w), dot(F1[2], w)), free);
}

static void add_branch(const ClosedForm *chain, const double *near, const double q[5], double distance, double turn,
                       Branches *found)
{
    Branch *branch = &found->branch[found->count++];
    branch->distance = distance;
    branch->turn = turn;
    branch->within_limits = true;
    for (int k = 0; k < chain->joints; k++) {
        double lower = chain->lower[k], upper = chain->upper[k], value = placed(q[k], lower, upper, near[k]);
        branch->joints[k] = value;
        if (value < lower - LIMIT_SLACK || value > upper + LIMIT_SLACK)
            branch->within_limits = false;
    }
}

/* With a swivel (not NaN), phi is such that the elbow is that far from hanging down, about g. */
void branches_of_few(const ClosedForm *chain, const double pose[16], const double *near, double swivel,
                     Branches *found)
{
    const JointLine *elbow = &chain->line[3];
    Vector3 tip = {chain->home[3], chain->home[7], chain->home[11]};
    Goal goal = goal_of(chain, pose, swivel);
    Vector3 r = minus(tip, elbow->point), k = minus(chain->centre, elbow->point), s = across(r, elbow->axis);
    double c = 0.5 * (dot(r, r) + dot(k, k) - goal.length * goal.length) - dot(k, minus(r, s));
    Roots roots = crossing(dot(k, s), dot(k, cross(elbow->axis, s)), c, near[3], STRAIGHT);
    double least = INFINITY;
    for (int first = 0; first < count_of_roots(&roots); first++) {
        Angle bend = root_of(&roots, first), half_swivel;
        Vector3 u = turned_about(tip, elbow->point, elbow->axis, bend.cosine, bend.sine);
        u = minus(u, chain->centre);
        double q[5] = {0.0}, distance = fabs(norm(u) - goal.length);
        Start start = start_of(chain, &goal, u);
        q[3] = radians(bend);
        double turn = turn_tip(chain, &goal, &start, q[3], chain->joints == 5 ? near[4] : 0.0, &half_swivel, &q[4]);
        EulerAngles shoulder = turn_shoulder(chain, &start, half_swivel, near[0]);
        q[0] = radians(shoulder.q1), q[2] = radians(shoulder.q3);
        double q2 = radians(shoulder.q2);
        for (int second = 0; second < (shoulder.unique ? 2 : 1); second++) {
            if (second == 1)
                q[0] += PI, q2 = -q2, q[2] += PI;
            q[1] = q2 - chain->tilt;
            add_branch(chain, near, q, distance, turn, found);
        }
        least = distance < least ? distance : least;
    }
    keep_nearest(found, least);
}
