/* closed_form_angles.h - angles inside the closed form: cosine and sine as long as can be, as arctangents cost most. */
#ifndef WHOLEBODY_KINEMATICS_CLOSED_FORM_ANGLES_H
#define WHOLEBODY_KINEMATICS_CLOSED_FORM_ANGLES_H

#include <math.h>
#include <stdbool.h>

#include "wholebody/rotations.h"

#define PI 3.14159265358979323846
#define FREE 1e-10        /* rad, m: so near to a singularity a joint can be anywhere, and keeps the value it has */
#define LIMIT_SLACK 1e-9  /* rad */
#define STRAIGHT 1e-7     /* rad: two branches nearer than that are one (this moves nothing by 1e-14 of a limb) */

/* Two numbers in the ratio of an angle's cosine and sine. */
typedef struct {
    double cosine, sine;
} Angle;

/* phi + delta and phi - delta, with sin delta >= 0; one root if that is zero. */
typedef struct {
    Angle phi, delta;
    bool exist; /* else phi comes nearest */
} Roots;

/* Rz(q1) Ry(q2) Rz(q3) with q2 >= 0; not unique at q2 = 0 or pi, where only q1 + q3 or q1 - q3 counts. */
typedef struct {
    Angle q1, q2, q3;
    bool unique;
} EulerAngles;

static inline Angle angle_of(double value)
{
    return (Angle){cos(value), sin(value)};
}

static inline double radians(Angle angle)
{
    return arctangent(angle.sine, angle.cosine);
}

/* The same angle give or take whole turns: as near to a value as can be, but within limits if it can. */
static inline double placed(double angle, double lower, double upper, double near)
{
    const double turn = 2.0 * PI;
    angle -= turn * floor((angle - near) * (0.5 / PI) + 0.5);
    if (angle > upper + LIMIT_SLACK && angle - turn >= lower - LIMIT_SLACK)
        return angle - turn;
    if (angle < lower - LIMIT_SLACK && angle + turn <= upper + LIMIT_SLACK)
        return angle + turn;
    return angle;
}

/* The limit that is nearer round the circle. */
static inline double nearer_limit(double x, double lower, double upper)
{
    return cos(x - lower) > cos(x - upper) ? lower : upper;
}

/* A cos theta + B sin theta = c. If A = B = 0, theta is the value given as free. A delta below straight is zero. */
static inline Roots crossing(double A, double B, double c, double free, double straight)
{
    const Angle none = {1.0, 0.0};
    double R = sqrt(A * A + B * B);
    if (R < FREE * FREE)
        return (Roots){angle_of(free), none, fabs(c) < FREE};
    double x = c / R, cosine = A / R, sine = B / R;
    if (x >= 1.0 - 0.5 * straight * straight)
        return (Roots){{cosine, sine}, none, x <= 1.0};
    if (x <= -1.0 + 0.5 * straight * straight)
        return (Roots){{-cosine, -sine}, none, x >= -1.0};
    return (Roots){{cosine, sine}, {x, sqrt((1.0 - x) * (1.0 + x))}, true};
}

/* The same roots with delta from sin delta ~ sqrt(far^2 - tilt^2), where 1 - cos delta has lost its digits.
 *
 * For two perpendicular axes that meet, i and j: far is the distance of w from the axis i, tilt the height of u along
 * the axis j; both are small together when an arm is nearly straight. */
static inline Roots sharper(Roots roots, double c, double far, double tilt)
{
    double square = (far - fabs(tilt)) * (far + fabs(tilt));
    if (!(roots.delta.sine > 0.0 && square > 0.0))
        return roots;
    double length = sqrt(c * c + square);
    return (Roots){roots.phi, {c / length, sqrt(square) / length}, true};
}

static inline int count_of_roots(const Roots *roots)
{
    return roots->delta.sine > 0.0 ? 2 : 1;
}

/* phi + delta, then phi - delta. */
static inline Angle root_of(const Roots *roots, int index)
{
    double c = roots->delta.cosine, s = index == 0 ? roots->delta.sine : -roots->delta.sine;
    return (Angle){roots->phi.cosine * c - roots->phi.sine * s, roots->phi.sine * c + roots->phi.cosine * s};
}

/* The turn about an axis from x towards y; the angle given as free if one of them is on the axis. */
static inline Angle aligning(Vector3 x, Vector3 y, Vector3 axis, double free)
{
    x = across(x, axis);
    y = across(y, axis);
    if (dot(x, x) < FREE * FREE || dot(y, y) < FREE * FREE)
        return angle_of(free);
    double c = dot(x, y), s = dot(axis, cross(x, y)), length = sqrt(c * c + s * s);
    return (Angle){c / length, s / length};
}

/* Euler angles of the rotation whose second and third columns are m and n. Where they are not unique, q1 keeps the
 * value given as free. q2 and q3 are computed from q1, so the rotation is exact however near to that. */
static inline EulerAngles euler_angles(Vector3 m, Vector3 n, double free)
{
    double length = sqrt(n.x * n.x + n.y * n.y);
    bool unique = length > FREE;
    Angle q1 = unique ? (Angle){n.x / length, n.y / length} : angle_of(free);
    Vector3 left = cross(m, n);
    double c = q1.cosine, s = q1.sine;
    return (EulerAngles){q1, {n.z, c * n.x + s * n.y}, {c * m.y - s * m.x, c * left.y - s * left.x}, unique};
}

#endif
