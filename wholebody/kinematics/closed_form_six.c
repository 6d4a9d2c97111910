/* closed_form_six.c - the closed form of six joints: one spherical end, and three joints that place its centre.
 *
 * With every joint turned to zero the tip stands at M; joint k turns by q about a fixed line, e_k(q). The pose is
 *
 *     T = e1 e2 e3 e4 e5 e6 M,     G = T M^-1
 *
 * and e1, e2, e3 leave the centre C of the hip or shoulder where it is, so d = G^-1 C has to satisfy e4 e5 e6 d = C:
 * three equations for three angles. Two neighbours of the three, the pair (i, j), are parallel or meet; the third one,
 * the single, then has to satisfy one equation of its own, which is A cos q + B sin q = c, and so has j; i aligns two
 * vectors. What is left, e1 e2 e3, is a rotation, and its angles are Euler angles. Two signs at each of these three
 * places make eight branches. A chain whose spherical end is the last one is solved backwards, from G^-1. */
#include <math.h>

#include "wholebody/kinematics/closed_form.h"
#include "wholebody/kinematics/closed_form_angles.h"

enum { JOINTS = 6, WAYS = MOST_BRANCHES / 2 };

/* The ways to place C: angles of the joints in the order in which the chain is solved, as sines and cosines; how far
 * from the goal; and whether the spherical end can turn in two ways. */
typedef struct {
    double sine[WAYS][JOINTS], cosine[WAYS][JOINTS];
    double distance[WAYS];
    bool unique[WAYS];
    int count;
} Ways;

/* The angles of the three joints that place C. */
typedef struct {
    Angle single, i, j;
} Placing;

/* G = T M^-1, or its inverse if the chain is solved backwards. */
typedef struct {
    Vector3 row[3], translation;
} Transform;

static Transform from_home(const ClosedForm *chain, const double T[16])
{
    const Vector3 *M = chain->home_back;
    Vector3 row[3];
    double translation[3];
    for (int i = 0; i < 3; i++) {
        Vector3 R = {T[4 * i], T[4 * i + 1], T[4 * i + 2]};
        row[i] = combined(R, M[0], M[1], M[2]);
        translation[i] = T[4 * i + 3] + dot(R, chain->home_back_translation);
    }
    Vector3 t = {translation[0], translation[1], translation[2]};
    if (!chain->backwards)
        return (Transform){{row[0], row[1], row[2]}, t};
    t = times(-1.0, combined(t, row[0], row[1], row[2]));
    return (Transform){{{row[0].x, row[1].x, row[2].x}, {row[0].y, row[1].y, row[2].y}, {row[0].z, row[1].z, row[2].z}},
                       t};
}

/* R^T a */
static Vector3 rotated_back(const Transform *G, Vector3 a)
{
    return combined(a, G->row[0], G->row[1], G->row[2]);
}

/* d, moved to the nearest place that C can get to; reached tells whether it was there already.
 *
 * Seen from the knot, where the last two axes meet, that is between two spheres. For an arm whose elbow is
 * perpendicular to the forearm and to the wrist, with rho and h the distances of d from the last axis and along it: the
 * forearm is perpendicular to the last axis, and the elbow at (rho_e, h_e); further up than the line to there, d has to
 * be in the circle about the elbow whose radius is the upper arm. */
static Vector3 moved_into_reach(const ClosedForm *chain, Vector3 d, bool *reached)
{
    Vector3 last = chain->pair_j.axis, r = minus(d, chain->knot);
    *reached = false;
    if (chain->upper_arm > 0.0) {
        double h = dot(r, last);
        Vector3 out = across(r, last);
        double rho = norm(out), x = rho - chain->elbow_along, y = fabs(h) - chain->elbow_beside;
        double length = sqrt(x * x + y * y);
        if (length > chain->upper_arm && fabs(h) * chain->elbow_along > rho * chain->elbow_beside) {
            x = chain->elbow_along + x * chain->upper_arm / length;
            y = chain->elbow_beside + y * chain->upper_arm / length;
            out = rho > FREE ? times(x / rho, out) : times(x, chain->pair_i.axis);
            return plus(chain->knot, plus(out, times(h > 0.0 ? y : -y, last)));
        }
    }
    double distance = norm(r), wanted = distance > chain->least_reach ? distance : chain->least_reach;
    wanted = wanted < chain->most_reach ? wanted : chain->most_reach;
    *reached = wanted == distance || distance < FREE;
    return *reached ? d : plus(chain->knot, times(wanted / distance, r));
}

/* The single turns x until the pair can bring it to the other point, or the other to it. */
static Roots single_roots(const ClosedForm *chain, Vector3 x, Vector3 other, double free)
{
    Vector3 a = chain->single.axis, p = chain->single.point, r = minus(x, p), s = across(r, a), k;
    double c;
    if (chain->parallel) { /* the same height along the axes of the pair */
        k = chain->pair_i.axis;
        c = dot(k, minus(minus(other, p), minus(r, s)));
    } else { /* the same distance from where they meet */
        Vector3 q = minus(other, chain->meeting);
        k = minus(chain->meeting, p);
        c = 0.5 * (dot(r, r) + dot(k, k) - dot(q, q)) - dot(k, minus(r, s));
    }
    return crossing(dot(k, s), dot(k, cross(a, s)), c, free, STRAIGHT);
}

/* Joint j of the pair turns u until joint i can bring it to w. */
static Roots pair_roots(const ClosedForm *chain, Vector3 u, Vector3 w, double free, bool reached)
{
    Vector3 ai = chain->pair_i.axis, aj = chain->pair_j.axis;
    if (chain->parallel) { /* the same distance from the axis i */
        Vector3 pi = chain->pair_i.point, pj = chain->pair_j.point;
        Vector3 k = across(minus(pi, pj), ai), s = across(minus(u, pj), ai), q = across(minus(w, pi), ai);
        double c = 0.5 * (dot(s, s) + dot(k, k) - dot(q, q));
        return crossing(dot(k, s), dot(k, cross(aj, s)), c, free, STRAIGHT);
    }
    Vector3 r = minus(u, chain->meeting), q = minus(w, chain->meeting), s = across(r, aj);
    double c = dot(ai, minus(q, minus(r, s))); /* the same height along the axis i */
    Roots roots = crossing(dot(ai, s), dot(ai, cross(aj, s)), c, free, 0.0);
    if (reached && fabs(dot(ai, aj)) < FREE)
        return sharper(roots, c, norm(across(q, ai)), dot(aj, r));
    return roots;
}

static Vector3 about(const JointLine *line, Vector3 x, double cosine, double sine)
{
    return turned_about(x, line->point, line->axis, cosine, sine);
}

/* |e4 e5 e6 d - C|, which is how far the tip stays from the goal when the orientation is right. */
static double miss(const ClosedForm *chain, Vector3 d, const Placing *at)
{
    Vector3 z = chain->single_last ? about(&chain->single, d, at->single.cosine, at->single.sine) : d;
    z = about(&chain->pair_j, z, at->j.cosine, at->j.sine);
    z = about(&chain->pair_i, z, at->i.cosine, at->i.sine);
    if (!chain->single_last)
        z = about(&chain->single, z, at->single.cosine, -at->single.sine);
    return norm(minus(z, chain->centre));
}

/* (e4 e5 e6)^-1 a, of a direction. */
static Vector3 turned_back(const ClosedForm *chain, Vector3 a, const Placing *at)
{
    if (!chain->single_last)
        a = turned(a, chain->single.axis, at->single.cosine, at->single.sine);
    a = turned(a, chain->pair_i.axis, at->i.cosine, -at->i.sine);
    a = turned(a, chain->pair_j.axis, at->j.cosine, -at->j.sine);
    return chain->single_last ? turned(a, chain->single.axis, at->single.cosine, -at->single.sine) : a;
}

/* What a joint is told to be where it can be anything, in the sense and order in which the chain is solved. */
static double free_value(const ClosedForm *chain, const double *near, int joint)
{
    return chain->backwards ? -near[5 - joint] : near[joint];
}

static void note(Ways *ways, int joint, double cosine, double sine)
{
    ways->cosine[ways->count][joint] = cosine;
    ways->sine[ways->count][joint] = sine;
}

/* What is left is a rotation: F1^T e1 e2 e3 F3 = Rz(q1) Ry(q2 + tilt) Rz(q3); F is G^T F1. */
static void add_way(const ClosedForm *chain, const Vector3 F[3], const Placing *at, double free, Ways *ways)
{
    Vector3 m = turned_back(chain, chain->frame_3[1], at), n = turned_back(chain, chain->frame_3[2], at);
    m = vector3(dot(F[0], m), dot(F[1], m), dot(F[2], m));
    n = vector3(dot(F[0], n), dot(F[1], n), dot(F[2], n));
    EulerAngles end = euler_angles(m, n, free);
    int single = chain->single_last ? 5 : 3, i = chain->single_last ? 3 : 4;
    note(ways, 0, end.q1.cosine, end.q1.sine);
    note(ways, 1, end.q2.cosine, end.q2.sine);
    note(ways, 2, end.q3.cosine, end.q3.sine);
    note(ways, single, at->single.cosine, chain->single_last ? at->single.sine : -at->single.sine);
    note(ways, i, at->i.cosine, at->i.sine);
    note(ways, i + 1, at->j.cosine, at->j.sine);
    ways->unique[ways->count++] = end.unique;
}

/* Bring C to its place, in up to four ways, and turn the spherical end. A single that comes first turns C back. */
static void place_centre(const ClosedForm *chain, const double pose[16], const double *near, Ways *ways)
{
    bool last = chain->single_last, reached;
    int single = last ? 5 : 3, i = last ? 3 : 4;
    Transform G = from_home(chain, pose);
    Vector3 C = chain->centre, goal = rotated_back(&G, minus(C, G.translation));
    Vector3 d = moved_into_reach(chain, goal, &reached);
    const Vector3 F[3] = {rotated_back(&G, chain->frame_1[0]), rotated_back(&G, chain->frame_1[1]),
                          rotated_back(&G, chain->frame_1[2])};
    Vector3 start = chain->parallel ? chain->pair_i.point : chain->meeting;
    Vector3 x = last ? d : C, other = last ? C : d;
    Roots roots = single_roots(chain, x, other, (last ? 1.0 : -1.0) * free_value(chain, near, single));
    reached = reached && roots.exist;
    double least = INFINITY;
    ways->count = 0;
    for (int first = 0; first < count_of_roots(&roots); first++) {
        Placing at = {.single = root_of(&roots, first)};
        Vector3 y = about(&chain->single, x, at.single.cosine, at.single.sine);
        Vector3 u = last ? y : d, w = last ? C : y;
        Roots roots_j = pair_roots(chain, u, w, free_value(chain, near, i + 1), reached);
        for (int second = 0; second < count_of_roots(&roots_j); second++) {
            at.j = root_of(&roots_j, second);
            Vector3 v = about(&chain->pair_j, u, at.j.cosine, at.j.sine);
            at.i = aligning(minus(v, start), minus(w, start), chain->pair_i.axis, free_value(chain, near, i));
            double distance = reached && roots_j.exist ? 0.0 : miss(chain, goal, &at);
            if (distance <= POSITION_REACHED && least > POSITION_REACHED)
                ways->count = 0;
            else if (distance > POSITION_REACHED && least <= POSITION_REACHED)
                continue;
            least = distance < least ? distance : least;
            ways->distance[ways->count] = distance;
            add_way(chain, F, &at, free_value(chain, near, 0), ways);
        }
    }
}

/* Joints in the order of the chain, each angle within limits if it can be, and whether all are.
 * turned_over: the other way to turn the spherical end, q1 + pi, -q2, q3 + pi. */
static void write_branch(const ClosedForm *chain, const double *near, const double *angles, bool turned_over,
                         Branch *branch)
{
    double q[JOINTS];
    for (int k = 0; k < JOINTS; k++)
        q[k] = angles[k];
    if (turned_over)
        q[0] += PI, q[1] = -q[1], q[2] += PI;
    q[1] -= chain->tilt;
    branch->within_limits = true;
    for (int k = 0; k < JOINTS; k++) {
        double value = chain->backwards ? -q[5 - k] : q[k], lower = chain->lower[k], upper = chain->upper[k];
        value = placed(value, lower, upper, near[k]);
        branch->joints[k] = value;
        branch->within_limits &= (lower - LIMIT_SLACK <= value) & (value <= upper + LIMIT_SLACK);
    }
}

/* Branches that reach the goal stand alone; only if there are none are there branches that do not. */
void branches_of_six(const ClosedForm *chain, const double pose[16], const double *near, Branches *found)
{
    Ways ways;
    place_centre(chain, pose, near, &ways);
    double angles[WAYS][JOINTS], least = INFINITY;
    for (int way = 0; way < ways.count; way++)
        for (int k = 0; k < JOINTS; k++)
            angles[way][k] = arctangent(ways.sine[way][k], ways.cosine[way][k]);
    for (int way = 0; way < ways.count; way++) {
        least = ways.distance[way] < least ? ways.distance[way] : least;
        for (int turned_over = 0; turned_over < (ways.unique[way] ? 2 : 1); turned_over++) {
            Branch *branch = &found->branch[found->count++];
            write_branch(chain, near, angles[way], turned_over, branch);
            branch->distance = ways.distance[way];
            branch->turn = 0.0;
        }
    }
    if (least > POSITION_REACHED)
        keep_nearest(found, least);
}
