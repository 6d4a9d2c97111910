/* dynamics.c - from (q, v) to everything a Snapshot shows: M, h, g, centre of mass, momentum, energy, frames. */

/* Vectors of three: packing them into vector registers costs more than it saves. */
#include "wholebody/model/lanes.h"
#include "wholebody/model/model.h"

#include <math.h>
#include <string.h>

#include "wholebody/rotations.h"

/* A symmetric 3 x 3 matrix: xx yy zz xy xz yz, as in the inertias of the tree. */
typedef enum { XX, YY, ZZ, XY, XZ, YZ } Entry;

static void times_symmetric(const double I[6], const double a[3], double result[3])
{
    result[0] = I[XX] * a[0] + I[XY] * a[1] + I[XZ] * a[2];
    result[1] = I[XY] * a[0] + I[YY] * a[1] + I[YZ] * a[2];
    result[2] = I[XZ] * a[0] + I[YZ] * a[1] + I[ZZ] * a[2];
}

/* The same of two bodies. */
static void times_symmetric_lanes(const Lanes I[6], const Lanes a[3], Lanes result[3])
{
    result[0] = I[XX] * a[0] + I[XY] * a[1] + I[XZ] * a[2];
    result[1] = I[XY] * a[0] + I[YY] * a[1] + I[YZ] * a[2];
    result[2] = I[XZ] * a[0] + I[YZ] * a[1] + I[ZZ] * a[2];
}

/* R I R^T */
static void turn_inertia(const Lanes R[9], const Lanes I[6], Lanes result[6])
{
    Lanes a[3], b[3], c[3];
    times_symmetric_lanes(I, R, a);
    times_symmetric_lanes(I, R + 3, b);
    times_symmetric_lanes(I, R + 6, c);
    result[XX] = dot_lanes(a, R), result[XY] = dot_lanes(a, R + 3), result[XZ] = dot_lanes(a, R + 6);
    result[YY] = dot_lanes(b, R + 3), result[YZ] = dot_lanes(b, R + 6), result[ZZ] = dot_lanes(c, R + 6);
}

/* Two bodies, each by itself: where they are and how they move, side by side. */
typedef struct {
    Lanes R[9], twist[6], drift[6], origin[3], inertia[10];
} TwoBodies;

/* Body `first` and the next one; in place of one behind the last, the last one. */
static void two_bodies(const Tree *tree, const Snapshot *now, int first, TwoBodies *two)
{
    const double *R[LANES], *twist[LANES], *drift[LANES], *origin[LANES], *inertia[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        int i = first + lane < tree->bodies ? first + lane : tree->bodies - 1;
        R[lane] = now->rotation[i], origin[lane] = now->origin[i], inertia[lane] = tree->inertia[i];
        twist[lane] = now->twist[i], drift[lane] = now->drift[i];
    }
    load_columns(R, 9, two->R);
    load_columns(twist, 6, two->twist);
    load_columns(drift, 6, two->drift);
    load_columns(origin, 3, two->origin);
    load_columns(inertia, 10, two->inertia);
}

/* Momentum about O and twice the kinetic energy of two bodies: p . p / m + w . L. */
typedef struct {
    double p[3][LANES], moment[3][LANES], pp[LANES], wL[LANES];
} Motion;

/* Two bodies: their inertia about O, the force that carries each with zero acceleration of v, its momentum. */
static void weigh_two(const Tree *tree, const Snapshot *now, int first, Motion *motion)
{
    TwoBodies two;
    two_bodies(tree, now, first, &two);
    const Lanes *w = two.twist + 3, *a = two.drift + 3, m = two.inertia[0];
    Lanes I[6], d[3], c[3]; /* d: from the body's origin to its centre of mass; c: from O */
    turn_inertia(two.R, two.inertia + 4, I);
    for (int row = 0; row < 3; row++)
        d[row] = dot_lanes(two.R + 3 * row, two.inertia + 1);
    Lanes u[3], ad[3], wu[3], p[3], f[3];
    cross_lanes(w, d, u);
    cross_lanes(a, d, ad);
    cross_lanes(w, u, wu);
    for (int k = 0; k < 3; k++) {
        c[k] = two.origin[k] + d[k];
        p[k] = m * (two.twist[k] + u[k]);
        f[k] = m * (two.drift[k] + ad[k] + wu[k]);
    }
    /* L = I w about the centre of mass; the moment there is I a + w x L */
    Lanes L[3], Ia[3], wL[3], cf[3], cp[3];
    times_symmetric_lanes(I, w, L);
    times_symmetric_lanes(I, a, Ia);
    cross_lanes(w, L, wL);
    cross_lanes(c, f, cf);
    cross_lanes(c, p, cp);
    Lanes mc[3] = {m * c[0], m * c[1], m * c[2]};
    Lanes burden[16] = {m, mc[0], mc[1], mc[2],
        [4 + XX] = I[XX] + mc[1] * c[1] + mc[2] * c[2],
        [4 + YY] = I[YY] + mc[0] * c[0] + mc[2] * c[2],
        [4 + ZZ] = I[ZZ] + mc[0] * c[0] + mc[1] * c[1],
        [4 + XY] = I[XY] - mc[0] * c[1],
        [4 + XZ] = I[XZ] - mc[0] * c[2],
        [4 + YZ] = I[YZ] - mc[1] * c[2],
    };
    for (int k = 0; k < 3; k++) {
        Lanes moment = L[k] + cp[k];
        burden[10 + k] = f[k];
        burden[13 + k] = Ia[k] + wL[k] + cf[k];
        store_lanes(&p[k], motion->p[k]);
        store_lanes(&moment, motion->moment[k]);
    }
    store_columns(burden, 16, now->burden[first], 16);
    Lanes pp = dot_lanes(p, p), along = dot_lanes(w, L);
    store_lanes(&pp, motion->pp);
    store_lanes(&along, motion->wL);
}

static void weigh_bodies(const Tree *tree, const Snapshot *now)
{
    memset(now->momentum, 0, 6 * sizeof(double));
    double energy = 0.0;
    for (int first = 0; first < tree->bodies; first += LANES) {
        Motion motion;
        weigh_two(tree, now, first, &motion);
        for (int lane = 0; lane < LANES && first + lane < tree->bodies; lane++) {
            double m = tree->inertia[first + lane][0];
            energy += motion.wL[lane] + (m > 0.0 ? motion.pp[lane] / m : 0.0);
            for (int k = 0; k < 3; k++) {
                now->momentum[k] += motion.p[k][lane];
                now->momentum[3 + k] += motion.moment[k][lane];
            }
        }
    }
    for (int i = 0; i < tree->nv; i++)
        energy += tree->rotor[i] * now->v[i] * now->v[i];
    now->energy[0] = 0.5 * energy;
}

/* Every body hands what it and its subtree weigh on to its parent. */
static void add_to_parents(const Tree *tree, const Snapshot *now)
{
    for (int i = tree->bodies - 1; i > 0; i--)
        for (int k = 0; k < 16; k += LANES) {
            Lanes own, sum;
            load_lanes(now->burden[i] + k, &own);
            load_lanes(now->burden[tree->parent[i]] + k, &sum);
            sum += own;
            store_lanes(&sum, now->burden[tree->parent[i]] + k);
        }
}

/* The momentum about O of subtrees that move along screws (s, a): force m s + a x mc and moment mc x s + I a. */
static void momentum_along(const Lanes mass[10], const Lanes screw[6], Lanes flow[6])
{
    const Lanes *first = mass + 1, *s = screw, *a = screw + 3;
    Lanes am[3], ms[3], Ia[3];
    cross_lanes(a, first, am);
    cross_lanes(first, s, ms);
    times_symmetric_lanes(mass + 4, a, Ia);
    for (int k = 0; k < 3; k++) {
        flow[k] = mass[0] * s[k] + am[k];
        flow[3 + k] = ms[k] + Ia[k];
    }
}

/* The momenta of the subtrees of body `first` and the next one, and the efforts of their joints with zero acceleration
 * of v, but for gravity. */
static void flow_of_two(const Tree *tree, const Snapshot *now, int first, double effort[LANES])
{
    const double *screws[LANES], *burdens[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        int i = first + lane < tree->bodies ? first + lane : first;
        screws[lane] = now->screw[i];
        burdens[lane] = now->burden[i];
    }
    Lanes burden[16], screw[6], flow[6];
    load_columns(burdens, 16, burden);
    load_columns(screws, 6, screw);
    momentum_along(burden, screw, flow);
    store_columns(flow, 6, now->flow[first], 6);
    Lanes product = dot_lanes(screw, burden + 10) + dot_lanes(screw + 3, burden + 13);
    store_lanes(&product, effort);
}

/* Joint by joint, h without gravity, and the momentum that each column of v gives: it may move several bodies. */
static void gather_columns(const Tree *tree, const Snapshot *now)
{
    size_t width = column_width(tree);
    memset(now->h, 0, (size_t)tree->nv * sizeof(double));
    memset(now->column_flow, 0, 6 * width * sizeof(double));
    for (int first = (tree->bodies - 1) / LANES * LANES; first >= 0; first -= LANES) {
        double effort[LANES];
        flow_of_two(tree, now, first, effort);
        for (int lane = LANES - 1; lane >= 0; lane--) {
            int i = first + lane;
            if (i == 0 || i >= tree->bodies)
                continue;
            int64_t column = tree->column[i];
            now->h[column] += effort[lane];
            for (size_t k = 0; k < 6; k++)
                now->column_flow[k * width + (size_t)column] += now->flow[i][k];
        }
    }
}

/* Column by column, g = -f . gravity, h, and M with the base, R^T (f, n), of the momentum (f, n) that a column gives. */
static void share_columns(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv, width = column_width(tree);
    double (*M)[nv] = (double (*)[nv])now->M;
    const double (*flow)[width] = (const double (*)[width])now->column_flow, *G = tree->gravity;
    double R[9]; /* a copy, which stays in registers while M is written */
    memcpy(R, now->rotation[0], sizeof R);
    for (size_t c = tree->floating ? 6 : 0; c < nv; c++) {
        const double f[3] = {flow[0][c], flow[1][c], flow[2][c]}, n[3] = {flow[3][c], flow[4][c], flow[5][c]};
        now->g[c] = -dot3(f, G);
        now->h[c] += now->g[c];
        if (tree->floating)
            for (int k = 0; k < 3; k++) {
                M[k][c] = M[c][k] = R[k] * f[0] + R[3 + k] * f[1] + R[6 + k] * f[2];
                M[3 + k][c] = M[c][3 + k] = R[k] * n[0] + R[3 + k] * n[1] + R[6 + k] * n[2];
            }
    }
}

/* M between one body's joint and all that the body carries, where columns are mixed: body by body. */
static void couple_bodies(const Tree *tree, const Snapshot *now, int64_t joint)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    int64_t column = tree->column[joint];
    for (int64_t i = joint; i < tree->subtree_end[joint]; i++) {
        double entry = dot3(now->screw[joint], now->flow[i]) + dot3(now->screw[joint] + 3, now->flow[i] + 3);
        M[column][tree->column[i]] += entry;
        if (i > joint)
            M[tree->column[i]][column] += entry;
    }
}

/* The entries that it adds to. */
static void clear_coupling(const Tree *tree, const Snapshot *now, int64_t joint)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    int64_t column = tree->column[joint];
    for (int64_t i = joint; i < tree->subtree_end[joint]; i++)
        M[column][tree->column[i]] = M[tree->column[i]][column] = 0.0;
}

/* The same for a joint whose subtree is a run of columns: the joint's screw times the momentum that each of them gives. */
static void couple_columns(const Tree *tree, const Snapshot *now, int64_t joint)
{
    size_t nv = (size_t)tree->nv, width = column_width(tree);
    size_t own = (size_t)tree->column[joint], count = (size_t)tree->column_end[joint] - own;
    double *row = now->M + own * nv + own, *column = row;
    const double *flow = now->column_flow + own, *screw = now->screw[joint];
    const double s[3] = {screw[0], screw[1], screw[2]}, a[3] = {screw[3], screw[4], screw[5]};
    for (size_t c = 0; c < count; c += LANES) {
        Lanes f[3], n[3];
        for (size_t k = 0; k < 3; k++) {
            load_lanes(flow + k * width + c, &f[k]);
            load_lanes(flow + (3 + k) * width + c, &n[k]);
        }
        Lanes entries = (s[0] * f[0] + s[1] * f[1] + s[2] * f[2]) + (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]);
        for (size_t lane = 0; lane < LANES && c + lane < count; lane++)
            row[c + lane] = column[(c + lane) * nv] = entries[lane];
    }
}

/* M between joints. An entry that is zero for this robot is never written: it is zero from the start. */
static void couple_joints(const Tree *tree, const Snapshot *now)
{
    for (int joint = 1; joint < tree->bodies; joint++)
        if (tree->column_end[joint] == 0)
            clear_coupling(tree, now, joint);
    for (int joint = tree->bodies - 1; joint > 0; joint--)
        if (tree->column_end[joint] > 0)
            couple_columns(tree, now, joint);
        else
            couple_bodies(tree, now, joint);
}

/* The rows of the base: the whole robot, in the axes of the base. */
static void gather_base(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    const double *R = now->rotation[0], *mass = now->burden[0], *first = mass + 1, *carrying = mass + 10;
    double moment[3], linear[3], angular[3], force[3], torque[3];
    cross3(first, tree->gravity, moment);
    rotate_back(R, tree->gravity, linear);
    rotate_back(R, moment, angular);
    rotate_back(R, carrying, force);
    rotate_back(R, carrying + 3, torque);
    for (int k = 0; k < 3; k++) {
        now->g[k] = -mass[0] * linear[k];
        now->g[3 + k] = -angular[k];
        now->h[k] = now->g[k] + force[k];
        now->h[3 + k] = now->g[3 + k] + torque[k];
        M[k][k] = mass[0];
        /* turning about this axis of the base moves the whole by a x mc, and gives it the moment of momentum I a */
        double a[3] = {R[k], R[3 + k], R[6 + k]}, f[3], n[3], f_in_base[3], n_in_base[3];
        cross3(a, first, f);
        times_symmetric(mass + 4, a, n);
        rotate_back(R, f, f_in_base);
        rotate_back(R, n, n_in_base);
        for (int j = 0; j < 3; j++) {
            M[3 + k][j] = f_in_base[j];
            M[j][3 + k] = f_in_base[j];
            M[3 + k][3 + j] = n_in_base[j];
        }
    }
}

/* From the leaves inwards: M = sum of S_j^T I S_i, h = S^T f + g, and each joint's share of the momentum. */
static void gather(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    add_to_parents(tree, now);
    gather_columns(tree, now);
    share_columns(tree, now);
    couple_joints(tree, now);
    if (tree->floating)
        gather_base(tree, now);
    for (size_t i = 0; i < nv; i++) {
        M[i][i] += tree->rotor[i];
        now->compensation[i] = tree->compensated[i] * now->g[i];
    }
    if (tree->group[0] >= 0)
        for (size_t i = 0; i < nv; i++)
            for (size_t j = 0; j < nv; j++)
                if (tree->group[i] != tree->group[j])
                    M[i][j] = 0.0;
}

/* Moments about O become moments about the centre of mass c. */
static void shift_moment(const double c[3], double vector[6])
{
    double moment[3];
    cross3(c, vector, moment);
    for (int k = 0; k < 3; k++)
        vector[3 + k] -= moment[k];
}

/* The columns of the base in the momentum matrix; mass is that of the whole robot, c its centre of mass from O. */
static void momentum_of_base(const Snapshot *now, size_t nv, const double mass[10], const double c[3])
{
    double (*A)[nv] = (double (*)[nv])now->momentum_matrix;
    const double *R = now->rotation[0], *first = mass + 1;
    double I[6] = { /* about the centre of mass */
        [XX] = mass[4 + XX] - first[1] * c[1] - first[2] * c[2],
        [YY] = mass[4 + YY] - first[0] * c[0] - first[2] * c[2],
        [ZZ] = mass[4 + ZZ] - first[0] * c[0] - first[1] * c[1],
        [XY] = mass[4 + XY] + first[0] * c[1],
        [XZ] = mass[4 + XZ] + first[0] * c[2],
        [YZ] = mass[4 + YZ] + first[1] * c[2],
    };
    for (int k = 0; k < 3; k++) {
        double a[3] = {R[k], R[3 + k], R[6 + k]}, linear[3], angular[3];
        cross3(a, first, linear);
        times_symmetric(I, a, angular);
        for (int j = 0; j < 3; j++) {
            A[j][k] = mass[0] * a[j];
            A[j][3 + k] = linear[j];
            A[3 + j][3 + k] = angular[j];
        }
    }
}

/* The robot as a whole: centre of mass, momentum about it, and their matrices. */
static void sum_up(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv;
    double (*A)[nv] = (double (*)[nv])now->momentum_matrix;
    const double (*flow)[column_width(tree)] = (const double (*)[column_width(tree)])now->column_flow;
    const double *mass = now->burden[0];
    double m = mass[0], share = 1.0 / m, c[3] = {mass[1] / m, mass[2] / m, mass[3] / m};
    memcpy(now->momentum_bias, mass + 10, 6 * sizeof(double));
    shift_moment(c, now->momentum);
    shift_moment(c, now->momentum_bias);
    for (size_t i = tree->floating ? 6 : 0; i < nv; i++) {
        double flow_of[6];
        for (size_t k = 0; k < 6; k++)
            flow_of[k] = flow[k][i];
        shift_moment(c, flow_of);
        for (size_t k = 0; k < 6; k++)
            A[k][i] = flow_of[k];
    }
    if (tree->floating)
        momentum_of_base(now, nv, mass, c);
    for (int k = 0; k < 3; k++) {
        now->com[k] = c[k] + (tree->floating ? now->q[k] : 0.0);
        now->com_velocity[k] = now->momentum[k] / m;
        now->com_bias[k] = now->momentum_bias[k] / m;
        for (size_t i = 0; i < nv; i++)
            now->com_jacobian[(size_t)k * nv + i] = A[k][i] * share;
    }
    now->energy[1] = -m * dot3(tree->gravity, now->com);
}

static bool all_finite(const double *values, int count)
{
    double sum = 0.0; /* of v - v: zero for every number, and no number for all others */
    for (int i = 0; i < count; i++)
        sum += values[i] - values[i];
    return sum == 0.0;
}

StateVerdict evaluate_plainly(const Tree *tree, const Snapshot *now)
{
    if (!all_finite(now->q, tree->nq) || !all_finite(now->v, tree->nv))
        return STATE_NOT_FINITE;
    if (!tree->floating)
        now->rotation[0][0] = now->rotation[0][4] = now->rotation[0][8] = 1.0;
    else if (!place_base(now))
        return STATE_NOT_UNIT;
    move_bodies(tree, now);
    weigh_bodies(tree, now);
    gather(tree, now);
    sum_up(tree, now);
    for (int frame = 0; frame < tree->frames; frame++)
        place_frame(tree, now, frame);
    for (int i = 0; i < tree->watched_count; i++)
        fill_jacobian(tree, now, (int)tree->watched[i]);
    return STATE_WELL;
}
