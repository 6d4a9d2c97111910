/* motion.h - what loops ask of motions: one period of the on-line profile, polynomials and poses at some times. */
#ifndef WHOLEBODY_MOTION_H
#define WHOLEBODY_MOTION_H

/* The joints of an on-line profile: state, then limits; `count` numbers each. */
typedef struct {
    int count;
    double *position, *velocity, *acceleration;
    const double *fastest, *steepest;
} Profile;

/* profile.c: one period of every joint; the first joint whose goal is no number, and then none moves, or -1. */
int advance_profile(const Profile *profile, const double *goal, double period);

/* x(t) = sum_k c[i][k] (t - t_i)^k for t_i <= t <= t_(i + 1): pieces x powers x numbers. */
typedef struct {
    int pieces, powers, numbers;
    const double *times; /* pieces + 1 */
    const double *coefficients;
} Polynomials;

/* polynomial.c: position, velocity and acceleration (3 x count x numbers) at the times asked. */
void evaluate_polynomials(const Polynomials *polynomials, const double *asked, int count, double *result);

/* R(t) = R_0 prod_i exp(beta_i(t) phi_i); rows of beta and its rates begin with three numbers that are not of turns. */
typedef struct {
    int turns;
    const double *start; /* 3 x 3 */
    const double *phi;   /* turns x 3 */
} Turning;

/* pose.c: quaternion (4), angular velocity and acceleration (3 each), in world, of one row. */
void turn_pose(const Turning *turning, const double *const rates[3], double *quaternion, double w[3], double dw[3]);

#endif
