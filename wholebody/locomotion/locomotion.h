/* locomotion.h - what the cycle of walking computes: the pendulum's path, the swing, balance, and how feet meet ground.
 *
 * Structs of doubles lie in numpy arrays of Python with fields in the same order. Feet are left, then right. Frames of
 * soles are sole to world, 4 x 4. All is in m, N, s, rad. No function keeps or allocates memory. */
#ifndef WHOLEBODY_LOCOMOTION_H
#define WHOLEBODY_LOCOMOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "wholebody/model/model.h"

#define GRAVITY 9.81

enum { ORDERS = 6 }; /* derivatives of a polynomial of the fifth order: from none to all */

static inline double clamp(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* A path of the zero moment point from knot to knot: derivatives of its polynomial from each time on, x and y, and the
 * coefficients C (x, y) and D (x, y) of the exponentials in the centre of mass that belongs to it. */
typedef struct {
    int count;
    const double *times;               /* count */
    const double (*curves)[ORDERS][2]; /* count */
    double (*coefficients)[4];         /* count */
    double omega;
} ZmpPath;

/* Rows of x and y. */
typedef struct {
    double zmp[2], dcm[2], com[2], com_velocity[2];
} PendulumState;

/* pendulum.c */
void solve_path(const ZmpPath *path, const double start[2]);
void evaluate_path(const ZmpPath *path, double time, PendulumState *now);

/* One swing of a foot. */
typedef struct {
    double end;              /* when it lands, s */
    const double (*state)[3]; /* position, velocity and acceleration of x, y, yaw when it was led last */
    const double *goal;      /* x, y, yaw */
    int knots;
    const double *rise;      /* 3 x knots: times, heights and vertical velocities */
    double (*derivatives)[3]; /* ORDERS x 3: written */
} FootSwing;

/* swing.c: six derivatives of x, y and yaw at a time, from the state at `since` to rest at the goal; the height. */
void swing_foot(const FootSwing *swing, double since, double time);
double swing_height(const FootSwing *swing, double time);

/* A polygon, counter-clockwise. */
typedef struct {
    int count;
    const double (*corners)[2];
} Polygon;

/* support_area.c */
void place_outline(Polygon outline, const double place[3], double (*corners)[2]);
void nearest_inside(Polygon area, const double point[2], double nearest[2]);
double share_of_area(Polygon area, const double point[2]);

/* How strongly the divergent component is fed back; see DcmGains. */
typedef struct {
    double proportional, integral, position, velocity;
} DcmGains;

/* The told pendulum, and what one step of feedback finds; see DcmStabilizer. */
typedef struct {
    double com[2], com_velocity[2], integral[2]; /* told; integral of dcm - reference */
    double dcm[2], off[2], zmp[2];               /* measured; its error; where the ground is to push */
} DcmFeedback;

/* What is planned and what is measured, in world. */
typedef struct {
    const double *zmp, *dcm, *pull;     /* planned, 2 each */
    const double *com, *com_velocity;   /* measured, 3 each */
    double omega, period;
} DcmInput;

typedef struct {
    bool kept_inside; /* whether the zmp had to be moved into the area */
    bool falling;     /* whether the divergent component is outside */
} DcmVerdict;

/* The trunk's lean and its velocity, x and y. */
typedef struct {
    double lean[2], leaning[2];
} Trunk;

/* dcm_stabilizer.c */
DcmVerdict feed_back_dcm(Polygon area, const DcmInput *input, const DcmGains *gains, DcmFeedback *feedback);
void lean_trunk(Trunk *trunk, const double push[2], double upright, double most, double period);

/* An estimate of the robot's balance in the estimator's world, and the same moved to that of the footsteps. */
typedef struct {
    const double (*wrench)[6];
    const uint8_t *contact;
    const double *vectors[5];           /* velocity of the centre of mass, base, centre of mass, capture point, cop */
    const double (*soles)[4][4], *orientation;
    double *share;                      /* of the weight on the left foot, smoothed */
    double (*moved_vectors)[3];         /* 5 */
    double (*moved_soles)[4][4], *moved_orientation;
} Anchoring;

/* A foot as planned. */
typedef struct {
    double place[3]; /* x, y, yaw */
    double height;
} PlannedFoot;

/* anchoring.c */
void anchor_balance(const Anchoring *anchoring, const PlannedFoot feet[2]);

/* How ground is felt; see GroundAdaptationGains, here in N, m and 1/s. */
typedef struct {
    double touch, bears, descend, deepest, give, follow;
} GroundGains;

/* Where the feet are, and the ground under the body. */
typedef struct {
    double heights[2];   /* of the soles */
    double forces[2];    /* smoothed */
    double swings[2];    /* 1 if the foot was planned to swing in the last cycle */
    double down[2];      /* 1 if it has found the ground */
    double start_height, duration; /* of the swing */
    double sinking;      /* how fast a foot sinks that finds no ground */
    double level, rising; /* height of the ground under the body, and how fast it rises */
} GroundContact;

enum { LEFT_FOOT, RIGHT_FOOT, BOTH_FEET };

/* What is planned, and what is measured. */
typedef struct {
    double heights[2];  /* above level ground */
    double rises[2];    /* of the ground, expected, from the other foot to this */
    const double (*wrench)[6];
    double phase_left, period;
    int support;        /* LEFT_FOOT, RIGHT_FOOT or BOTH_FEET: planned, then found */
    double left_share;  /* of the weight: planned, then found */
} GroundStep;

/* ground_contact.c: true if a foot came down before its time. */
bool find_ground(const GroundGains *gains, GroundContact *contact, GroundStep *step);

/* How feet yield; see SoleComplianceGains, here in m, N, 1/s and rad. */
typedef struct {
    double turn, hurry, usual, loaded, follow, level, fastest, most, flat;
    double weight;
    double middle[2][2], half[2][2]; /* of the soles: middle and half of their length and width, in their frames */
} ComplianceGains;

/* How the feet are turned: x and y of each sole's upright axis in world, and how fast; what turning lifted them; what
 * both have in common. */
typedef struct {
    double leans[2][2], rates[2][2], rises[2], ground[2];
} FootCompliance;

/* What is commanded, and what is measured. */
typedef struct {
    const double (*sole[2])[4]; /* commanded frames */
    const double *zmp;          /* commanded */
    double left_share;
    const double (*wrench)[6], (*cop)[2]; /* of the ground in each sole */
    const double (*seen)[4][4]; /* measured frames of the soles */
    bool uneven;
    double period;
} ComplianceStep;

/* foot_compliance.c */
void turn_feet(const ComplianceGains *gains, const ComplianceStep *step, FootCompliance *feet);
void turn_sole(const double (*sole)[4], const double lean[2], double (*result)[4]);

/* Servos and springs of a robot, one number for each joint. */
typedef struct {
    const int64_t *soles;              /* 2 frames of the model */
    const double *compliance, *lag;    /* 1 / K and D / K of the servos */
    const double *softness;            /* of springs under joints that turn the feet, rad/(N m) */
    const double (*from_spring)[3];    /* from the spring to each sole, in its axes */
    double mass;
} Servos;

/* What the legs do: joints, and in world the pelvis, the soles, and how the ground pushes. */
typedef struct {
    const double *joints, *velocities;
    const double *acceleration;        /* of the centre of mass, x and y */
    const double *rotation;            /* of the pelvis */
    const double (*sole[2])[4];
    const double *zmp;
    double left_share;
} LegMotion;

/* servo_feed_forward.c: the positions to tell the servos. */
void lead_servos(const Tree *tree, const Snapshot *now, const Servos *servos, const LegMotion *motion, double *told);

#endif
