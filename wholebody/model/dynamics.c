/* dynamics.c - from (q, v) to everything a Snapshot shows: M, h, g, centre of mass, momentum, energy, frames. */

/* Vectors of three: packing them into vector registers costs more than it saves. */
#pragma GCC optimize("no-tree-vectorize")
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

/* R I R^T */
static void turn_inertia(const double R[9], const double I[6], double result[6])
{
    double a[3], b[3], c[3];
    times_symmetric(I, R, a);
    times_symmetric(I, R + 3, b);
    times_symmetric(I, R + 6, c);
    result[XX] = dot3(a, R), result[XY] = dot3(a, R + 3), result[XZ] = dot3(a, R + 6);
    result[YY] = dot3(b, R + 3), result[YZ] = dot3(b, R + 6), result[ZZ] = dot3(c, R + 6);
}

/* Each body by itself: its inertia about O, the force that carries it with zero acceleration of v, its momentum. The
 * result is twice its kinetic energy. */
static double weigh_body(const Tree *tree, const Snapshot *now, int i)
{
    const double *R = now->rotation[i], *twist = now->twist[i], *drift = now->drift[i];
    const double *w = twist + 3, *a = drift + 3;
    double m = tree->inertia[i][0];
    double I[6], d[3], c[3];
    turn_inertia(R, tree->inertia[i] + 4, I);
    rotate(R, tree->inertia[i] + 1, d); /* from the body's origin to its centre of mass; c: from O */
    double u[3], ad[3], wu[3], p[3], f[3];
    cross3(w, d, u);
    cross3(a, d, ad);
    cross3(w, u, wu);
    for (int k = 0; k < 3; k++) {
        c[k] = now->origin[i][k] + d[k];
        p[k] = m * (twist[k] + u[k]);
        f[k] = m * (drift[k] + ad[k] + wu[k]);
    }
    /* L = I w about the centre of mass; the moment there is I a + w x L */
    double L[3], Ia[3], wL[3], cf[3], cp[3];
    times_symmetric(I, w, L);
    times_symmetric(I, a, Ia);
    cross3(w, L, wL);
    cross3(c, f, cf);
    cross3(c, p, cp);
    for (int k = 0; k < 3; k++) {
        now->force[i][k] = f[k];
        now->force[i][3 + k] = Ia[k] + wL[k] + cf[k];
        now->momentum[k] += p[k];
        now->momentum[3 + k] += L[k] + cp[k];
    }
    double mx = m * c[0], my = m * c[1], mz = m * c[2];
    double *mass = now->mass[i];
    mass[0] = m, mass[1] = mx, mass[2] = my, mass[3] = mz;
    mass[4 + XX] = I[XX] + my * c[1] + mz * c[2];
    mass[4 + YY] = I[YY] + mx * c[0] + mz * c[2];
    mass[4 + ZZ] = I[ZZ] + mx * c[0] + my * c[1];
    mass[4 + XY] = I[XY] - mx * c[1], mass[4 + XZ] = I[XZ] - mx * c[2], mass[4 + YZ] = I[YZ] - my * c[2];
    return dot3(w, L) + (m > 0.0 ? dot3(p, p) / m : 0.0);
}

static void weigh_bodies(const Tree *tree, const Snapshot *now)
{
    memset(now->momentum, 0, 6 * sizeof(double));
    double energy = 0.0;
    for (int i = 0; i < tree->bodies; i++)
        energy += weigh_body(tree, now, i);
    for (int i = 0; i < tree->nv; i++)
        energy += tree->rotor[i] * now->v[i] * now->v[i];
    now->energy[0] = 0.5 * energy;
}

/* The momentum about O of a subtree that moves along a screw: force and moment. */
static void momentum_along(const double mass[10], const double screw[6], double flow[6])
{
    const double *first = mass + 1, *s = screw, *a = screw + 3;
    double am[3], ms[3], Ia[3];
    cross3(a, first, am);
    cross3(first, s, ms);
    times_symmetric(mass + 4, a, Ia);
    for (int k = 0; k < 3; k++) {
        flow[k] = mass[0] * s[k] + am[k];
        flow[3 + k] = ms[k] + Ia[k];
    }
}

static double dot6(const double a[6], const double b[6])
{
    return dot3(a, b) + dot3(a + 3, b + 3);
}

/* One joint: its share of M with itself, with all joints that carry it, and with the base. */
static void gather_joint(const Tree *tree, const Snapshot *now, int i)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    int64_t parent = tree->parent[i], column = tree->column[i];
    double flow[6];
    momentum_along(now->mass[i], now->screw[i], flow);
    memcpy(now->flow[i], flow, sizeof flow);
    double *restrict mass_of_parent = now->mass[parent], *restrict force_on_parent = now->force[parent];
    for (int k = 0; k < 10; k++)
        mass_of_parent[k] += now->mass[i][k];
    double weight = -dot3(flow, tree->gravity);
    now->g[column] += weight;
    now->h[column] += dot6(now->screw[i], now->force[i]) + weight;
    for (int k = 0; k < 6; k++)
        force_on_parent[k] += now->force[i][k];
    M[column][column] += dot6(now->screw[i], flow);
    for (int64_t p = parent; p > 0; p = tree->parent[p]) {
        int64_t other = tree->column[p];
        double entry = dot6(now->screw[p], flow);
        M[column][other] += entry;
        M[other][column] += entry;
    }
    if (tree->floating) {
        double linear[3], angular[3];
        rotate_back(now->rotation[0], flow, linear);
        rotate_back(now->rotation[0], flow + 3, angular);
        for (int k = 0; k < 3; k++) {
            M[column][k] += linear[k];
            M[column][3 + k] += angular[k];
        }
    }
}

/* The rows of the base: the whole robot, in the axes of the base. */
static void gather_base(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    const double *R = now->rotation[0], *mass = now->mass[0], *first = mass + 1;
    double moment[3], linear[3], angular[3], force[3], torque[3];
    cross3(first, tree->gravity, moment);
    rotate_back(R, tree->gravity, linear);
    rotate_back(R, moment, angular);
    rotate_back(R, now->force[0], force);
    rotate_back(R, now->force[0] + 3, torque);
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
    for (size_t i = 6; i < nv; i++)
        for (size_t k = 0; k < 6; k++)
            M[k][i] = M[i][k];
}

/* From the leaves inwards: M = sum of S_j^T I S_i, h = S^T f + g, and each joint's share of the momentum. */
static void gather(const Tree *tree, const Snapshot *now)
{
    size_t nv = (size_t)tree->nv;
    double (*M)[nv] = (double (*)[nv])now->M;
    memset(now->M, 0, nv * nv * sizeof(double));
    memset(now->h, 0, nv * sizeof(double));
    memset(now->g, 0, nv * sizeof(double));
    for (int i = tree->bodies - 1; i > 0; i--)
        gather_joint(tree, now, i);
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
    const double *mass = now->mass[0];
    double m = mass[0], share = 1.0 / m, c[3] = {mass[1] / m, mass[2] / m, mass[3] / m};
    memcpy(now->momentum_bias, now->force[0], 6 * sizeof(double));
    shift_moment(c, now->momentum);
    shift_moment(c, now->momentum_bias);
    memset(now->momentum_matrix, 0, 6 * nv * sizeof(double));
    for (int i = 1; i < tree->bodies; i++) {
        double flow[6];
        memcpy(flow, now->flow[i], sizeof flow);
        shift_moment(c, flow);
        for (int k = 0; k < 6; k++)
            A[k][tree->column[i]] += flow[k];
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

StateVerdict evaluate_snapshot(const Tree *tree, const Snapshot *now)
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
