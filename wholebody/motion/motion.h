/* motion.h - what loops ask of motions: one period of the on-line profile, polynomials at some times. */
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

#endif
