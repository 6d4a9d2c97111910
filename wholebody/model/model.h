/* model.h - the physics of one robot as kernels see it: a tree that never changes, and the snapshot of one state.
 *
 * Both point into flat arrays that Python owns (layout.py has the same order). Matrices are stored by rows. Positions
 * of bodies are counted from O, the place of the base, in the axes of the world. */
#ifndef WHOLEBODY_MODEL_H
#define WHOLEBODY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How bodies hang together, what they weigh, where the frames are. Body 0 is the base, or the world. */
typedef struct {
    int bodies, frames, nv, nq, watched_count;
    bool floating;
    const int64_t *parent;      /* of each body */
    const int64_t *subtree_end; /* of each body: the body after the last one that it carries */
    const int64_t *column_end;  /* of each body whose subtree is moved by a run of columns, that move nothing else, and the
                                   first of which moves this body alone: the column after the last; else 0 */
    const int64_t *prismatic;   /* 1 for a body that slides, 0 for one that turns */
    const int64_t *column;      /* of v, which moves this body */
    const int64_t *frame_body;  /* the body a frame is fixed to */
    const int64_t *watched;     /* frames whose Jacobians are always computed */
    const int64_t *group;       /* of each column of v; columns of different groups are decoupled in M */
    const double (*joint)[3][4]; /* the body's frame in its parent's at q = 0: rows of the rotation, each with its entry of
                                    the position */
    const double (*scale)[2];   /* ratio and offset: position = ratio q + offset */
    const double (*inertia)[10]; /* mass, centre of mass, inertia about it (xx yy zz xy xz yz), in the body's frame */
    const double (*frame)[3][4]; /* rotation and position in the body's frame, as of a joint */
    const double *rotor;        /* of each column of v */
    const double *compensated;  /* of each column of v: 1 where gravity is to be compensated, else 0 */
    const double *gravity;      /* 3 */
} Tree;

/* Everything physics says at one (q, v); the last ones are needed on the way. Those of
 * `body_width` and `column_width` have room for more, so that two can be read and written from any one on. */
typedef struct {
    double *q, *v;
    double *M;                  /* nv x nv */
    double *h, *g;
    double *compensation;       /* g where gravity is to be compensated */
    double *com, *com_velocity, *com_bias; /* 3 each, in world */
    double *momentum, *momentum_bias;      /* 6 each */
    double *energy;             /* kinetic, potential */
    double *com_jacobian;       /* 3 x nv */
    double *momentum_matrix;    /* 6 x nv */
    double (*placement)[4][4];  /* of each frame: frame to world */
    double (*position)[3];      /* of each frame, in world */
    double (*velocity)[6];      /* of each frame */
    double (*bias)[6];          /* of each frame */
    double *jacobian;           /* frames x 6 x nv */
    double (*lever)[3];         /* of each frame, from O */
    double (*rotation)[9];      /* of each body: body to world, by rows */
    double (*origin)[3];        /* of each body, from O */
    double (*twist)[6];         /* of each body's origin */
    double (*drift)[6];         /* of each body's origin: acceleration with zero acceleration of v */
    double (*screw)[6];         /* velocity of O and angular velocity that a unit of v gives to the subtree */
    double (*burden)[16];       /* of the subtree: mass, first moment and inertia about O (10 numbers), then force and
                                   moment about O that carry it with zero acceleration of v; body_width rows */
    double (*flow)[6];          /* momentum of the subtree, about O, that a unit of v gives it; body_width rows */
    double *column_flow;        /* 6 x column_width: the sum of these over the bodies that a column of v moves */
} Snapshot;

/* What a state can be: well, with a value that is no number, or with a quaternion far from unit length. */
typedef enum { STATE_WELL = 0, STATE_NOT_FINITE = 1, STATE_NOT_UNIT = 2 } StateVerdict;

/* layout.c */
size_t body_width(const Tree *tree);
size_t column_width(const Tree *tree);
Tree tree_in(const int64_t *integers, const double *numbers);
Snapshot snapshot_in(const Tree *tree, double *storage);
size_t snapshot_size(const Tree *tree);

/* wide.c: everything at the q and v of a snapshot, by the variant of the kernel that suits the processor: "avx" or "plain".
 * Both give the same bits. */
StateVerdict evaluate_snapshot(const Tree *tree, const Snapshot *now);
const char *kernel_variant(void);

/* dynamics.c: the plain variant. */
StateVerdict evaluate_plainly(const Tree *tree, const Snapshot *now);

/* bodies.c: where bodies are and how they move, at q and v. place_base is false if the quaternion is no rotation. */
bool place_base(const Snapshot *now);
void move_bodies(const Tree *tree, const Snapshot *now);

/* frames.c */
void place_frame(const Tree *tree, const Snapshot *now, int frame);
void fill_jacobian(const Tree *tree, const Snapshot *now, int frame);

/* The Jacobian of one frame, 6 x nv. */
static inline double *jacobian_of(const Tree *tree, const Snapshot *now, int frame)
{
    return now->jacobian + (size_t)frame * 6 * (size_t)tree->nv;
}

/* points.c: velocity and bias (acceleration with zero acceleration of v) of a point at d, in the axes of the world, from
 * the origin of a frame. */
void point_motion(const Snapshot *now, int frame, const double d[3], double velocity[3], double bias[3]);

/* Where rows go: columns of one wide matrix, nv x width; nowhere, if `at` is NULL. */
typedef struct {
    double *at;
    int width;
} Columns;

/* points.c: add the rows B J of a point's Jacobian J as columns of `into`, from column `first` on. p is where the point
 * is from O; B has `count` rows of six numbers, for the linear and the angular velocity. */
void add_point_rows(const Tree *tree, const Snapshot *now, int frame, const double p[3], double (*B)[6],
                    int count, Columns into, int first);

/* configuration.c: q moved along v for dt, and the v that leads from q0 to q1 in one second. */
void integrate_configuration(const Tree *tree, const double *q, const double *v, double dt, double *result);
void difference_of_configurations(const Tree *tree, const double *q0, const double *q1, double *result);

#endif
