/* layout.c - where the tree and a snapshot lie in the flat arrays that Python hands over (layout.py). */
#include "wholebody/model/lanes.h"
#include "wholebody/model/model.h"

enum { HEADER = 8 };

/* The integers begin with the numbers of bodies, frames, nv, nq, watched frames, and whether the base floats. */
Tree tree_in(const int64_t *integers, const double *numbers)
{
    Tree tree = {
        .bodies = (int)integers[0],
        .frames = (int)integers[1],
        .nv = (int)integers[2],
        .nq = (int)integers[3],
        .watched_count = (int)integers[4],
        .floating = integers[5] == 1,
    };
    tree.parent = integers + HEADER;
    tree.subtree_end = tree.parent + tree.bodies;
    tree.column_end = tree.subtree_end + tree.bodies;
    tree.prismatic = tree.column_end + tree.bodies;
    tree.column = tree.prismatic + tree.bodies;
    tree.frame_body = tree.column + tree.bodies;
    tree.watched = tree.frame_body + tree.frames;
    tree.group = tree.watched + tree.watched_count;
    tree.joint = (const double (*)[3][4])numbers;
    tree.scale = (const double (*)[2])(tree.joint + tree.bodies);
    tree.inertia = (const double (*)[10])(tree.scale + tree.bodies);
    tree.frame = (const double (*)[3][4])(tree.inertia + tree.bodies);
    tree.rotor = (const double *)(tree.frame + tree.frames);
    tree.compensated = tree.rotor + tree.nv;
    tree.gravity = tree.compensated + tree.nv;
    return tree;
}

size_t body_width(const Tree *tree)
{
    return (size_t)tree->bodies + LANES;
}

size_t column_width(const Tree *tree)
{
    return (size_t)tree->nv + LANES;
}

/* Take `count` numbers from where the last ones ended. */
static double *take(double **next, size_t count)
{
    double *taken = *next;
    *next += count;
    return taken;
}

Snapshot snapshot_in(const Tree *tree, double *storage)
{
    size_t bodies = (size_t)tree->bodies, frames = (size_t)tree->frames, nv = (size_t)tree->nv;
    size_t width = body_width(tree);
    Snapshot now;
    now.q = take(&storage, (size_t)tree->nq);
    now.v = take(&storage, nv);
    now.M = take(&storage, nv * nv);
    now.h = take(&storage, nv);
    now.g = take(&storage, nv);
    now.compensation = take(&storage, nv);
    now.com = take(&storage, 3);
    now.com_velocity = take(&storage, 3);
    now.com_bias = take(&storage, 3);
    now.momentum = take(&storage, 6);
    now.momentum_bias = take(&storage, 6);
    now.energy = take(&storage, 2);
    now.com_jacobian = take(&storage, 3 * nv);
    now.momentum_matrix = take(&storage, 6 * nv);
    now.placement = (double (*)[4][4])take(&storage, 16 * frames);
    now.position = (double (*)[3])take(&storage, 3 * frames);
    now.velocity = (double (*)[6])take(&storage, 6 * frames);
    now.bias = (double (*)[6])take(&storage, 6 * frames);
    now.jacobian = take(&storage, 6 * nv * frames);
    now.lever = (double (*)[3])take(&storage, 3 * frames);
    now.rotation = (double (*)[9])take(&storage, 9 * bodies);
    now.origin = (double (*)[3])take(&storage, 3 * bodies);
    now.twist = (double (*)[6])take(&storage, 6 * bodies);
    now.drift = (double (*)[6])take(&storage, 6 * bodies);
    now.screw = (double (*)[6])take(&storage, 6 * bodies);
    now.burden = (double (*)[16])take(&storage, 16 * width);
    now.flow = (double (*)[6])take(&storage, 6 * width);
    now.column_flow = take(&storage, 6 * column_width(tree));
    return now;
}

size_t snapshot_size(const Tree *tree)
{
    size_t bodies = (size_t)tree->bodies, frames = (size_t)tree->frames, nv = (size_t)tree->nv;
    size_t width = body_width(tree);
    return (size_t)tree->nq + nv + nv * nv + 12 * nv + 23 + frames * (34 + 6 * nv) + 30 * bodies + 22 * width + 6 * column_width(tree);
}
