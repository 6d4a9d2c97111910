/* rotations.h - vectors, rotation matrices and quaternions (x y z w) of kernels; rotations.py is the same for Python.
 *
 * Matrices are 3 x 3 by rows: nine numbers. Results may not overlap arguments unless it says so. */
#ifndef WHOLEBODY_ROTATIONS_H
#define WHOLEBODY_ROTATIONS_H

#include <math.h>

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double norm3(const double a[3])
{
    return sqrt(dot3(a, a));
}

/* a x b */
static inline void cross3(const double a[3], const double b[3], double result[3])
{
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
}

/* R d */
static inline void rotate(const double R[9], const double d[3], double result[3])
{
    for (int row = 0; row < 3; row++)
        result[row] = R[3 * row] * d[0] + R[3 * row + 1] * d[1] + R[3 * row + 2] * d[2];
}

/* R^T d */
static inline void rotate_back(const double R[9], const double d[3], double result[3])
{
    for (int row = 0; row < 3; row++)
        result[row] = R[row] * d[0] + R[3 + row] * d[1] + R[6 + row] * d[2];
}

/* R d, with the rotation in the upper left of a 4 x 4 placement */
static inline void rotate_by_placement(double at[4][4], const double d[3], double result[3])
{
    for (int row = 0; row < 3; row++)
        result[row] = at[row][0] * d[0] + at[row][1] * d[1] + at[row][2] * d[2];
}

/* R^T d, with the rotation in the upper left of a 4 x 4 placement */
static inline void rotate_back_by_placement(double at[4][4], const double d[3], double result[3])
{
    for (int row = 0; row < 3; row++)
        result[row] = at[0][row] * d[0] + at[1][row] * d[1] + at[2][row] * d[2];
}

/* The quaternion a (x) b. */
static inline void quaternion_product(const double a[4], const double b[4], double result[4])
{
    result[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    result[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    result[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    result[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* A vector turned by a unit quaternion: t + 2 w u + 2 r x u with u = r x t. */
static inline void rotate_by_quaternion(const double quaternion[4], const double t[3], double result[3])
{
    double u[3], ru[3];
    cross3(quaternion, t, u);
    cross3(quaternion, u, ru);
    for (int k = 0; k < 3; k++)
        result[k] = t[k] + 2.0 * (quaternion[3] * u[k] + ru[k]);
}

/* The rotation matrix of a unit quaternion. */
static inline void matrix_of_quaternion(const double quaternion[4], double R[9])
{
    double x = quaternion[0], y = quaternion[1], z = quaternion[2], w = quaternion[3];
    R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

/* The rotation in the upper left of a 4 x 4 placement. */
static inline void rotation_of_placement(double at[4][4], double R[9])
{
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            R[3 * row + k] = at[row][k];
}

/* [a]x, with [a]x d = a x d */
static inline void cross_matrix(const double a[3], double result[9])
{
    result[0] = 0.0, result[1] = -a[2], result[2] = a[1];
    result[3] = a[2], result[4] = 0.0, result[5] = -a[0];
    result[6] = -a[1], result[7] = a[0], result[8] = 0.0;
}

/* A B, of 3 x 3 */
static inline void product_of_rotations(const double A[9], const double B[9], double result[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            result[3 * i + k] = A[3 * i] * B[k] + A[3 * i + 1] * B[3 + k] + A[3 * i + 2] * B[6 + k];
}

/* A^T B, of 3 x 3 */
static inline void product_with_transpose(const double A[9], const double B[9], double result[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            result[3 * i + k] = A[i] * B[k] + A[3 + i] * B[3 + k] + A[6 + i] * B[6 + k];
}

/* The rotation matrix of a rotation vector: 1 + s [r]x + c [r]x^2, s = sin a / a, c = (1 - cos a) / a^2, a = |r|. */
static inline void matrix_of_rotation_vector(const double r[3], double R[9])
{
    double x = r[0], y = r[1], z = r[2], square = dot3(r, r), angle = sqrt(square);
    double s = 1 - square / 6, c = 0.5 - square / 24;
    if (angle > 1e-4) {
        double half = sin(0.5 * angle) / angle;
        s = sin(angle) / angle, c = 2 * half * half;
    }
    R[0] = 1 - c * (y * y + z * z), R[1] = c * x * y - s * z, R[2] = c * x * z + s * y;
    R[3] = c * x * y + s * z, R[4] = 1 - c * (x * x + z * z), R[5] = c * y * z - s * x;
    R[6] = c * x * z - s * y, R[7] = c * y * z + s * x, R[8] = 1 - c * (x * x + y * y);
}

/* The rotation vector of a rotation matrix that turns by less than half a turn. */
static inline void rotation_vector_of_matrix(const double R[9], double result[3])
{
    double axis[3] = {0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])};
    double sine = norm3(axis), cosine = 0.5 * (R[0] + R[4] + R[8] - 1.0);
    double scale = sine > 1e-6 ? atan2(sine, cosine) / sine : 1.0 + sine * sine / 6;
    for (int k = 0; k < 3; k++)
        result[k] = scale * axis[k];
}

/* quaternion <- quaternion (x) exp(r / 2), of unit length again: a turn by a rotation vector in its own axes. */
static inline void turn_quaternion(double quaternion[4], const double r[3])
{
    double angle = norm3(r);
    double s = angle > 1e-6 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    double by[4] = {s * r[0], s * r[1], s * r[2], cos(0.5 * angle)}, turned[4];
    quaternion_product(quaternion, by, turned);
    double length =
        sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2] + turned[3] * turned[3]);
    for (int k = 0; k < 4; k++)
        quaternion[k] = turned[k] / length;
}

/* The unit quaternion of a rotation matrix, from the largest of its four squares. */
static inline void quaternion_of_matrix(const double R[9], double quaternion[4])
{
    double trace = R[0] + R[4] + R[8];
    int i = R[4] > R[0] ? 1 : 0;
    i = R[8] > R[4 * i] ? 2 : i;
    if (trace > R[4 * i]) {
        quaternion[0] = R[7] - R[5], quaternion[1] = R[2] - R[6], quaternion[2] = R[3] - R[1];
        quaternion[3] = 1.0 + trace;
    } else {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        quaternion[i] = 1.0 + 2.0 * R[4 * i] - trace;
        quaternion[j] = R[3 * j + i] + R[3 * i + j];
        quaternion[k] = R[3 * k + i] + R[3 * i + k];
        quaternion[3] = R[3 * k + j] - R[3 * j + k];
    }
    double size = sqrt(quaternion[0] * quaternion[0] + quaternion[1] * quaternion[1] + quaternion[2] * quaternion[2] +
                       quaternion[3] * quaternion[3]);
    for (int k = 0; k < 4; k++)
        quaternion[k] /= size;
}

/* The rotation vector t with exp(t) R = goal, the shorter way round, in the axes that R leads to. The goal is a
 * quaternion of any length but zero. */
static inline void turn_between(const double goal[4], const double R[9], double turn[3])
{
    double now[4], wanted[4], error[4];
    quaternion_of_matrix(R, now);
    double length = sqrt(goal[0] * goal[0] + goal[1] * goal[1] + goal[2] * goal[2] + goal[3] * goal[3]);
    for (int k = 0; k < 4; k++)
        wanted[k] = goal[k] / length;
    for (int k = 0; k < 3; k++)
        now[k] = -now[k];
    quaternion_product(wanted, now, error);
    double sine = norm3(error);
    double scale = sine < 1e-9 ? 2.0 : 2.0 * atan2(sine, fabs(error[3])) / sine;
    if (error[3] < 0.0)
        scale = -scale;
    for (int k = 0; k < 3; k++)
        turn[k] = scale * error[k];
}

/* Two unit directions across a unit axis, right-handed with it. */
static inline void across_axis(const double axis[3], double first[3], double second[3])
{
    double x = axis[0], y = axis[1], z = axis[2];
    if (fabs(x) < 0.6)
        first[0] = 0.0, first[1] = z, first[2] = -y;
    else
        first[0] = -z, first[1] = 0.0, first[2] = x;
    double length = norm3(first);
    for (int k = 0; k < 3; k++)
        first[k] /= length;
    cross3(axis, first, second);
}

/* The rotation vector that takes a unit direction onto another the shortest way; opposite ones, any way. */
static inline void turn_onto(const double axis[3], const double goal[3], double turn[3])
{
    double other[3];
    cross3(axis, goal, turn);
    double sine = norm3(turn), cosine = dot3(axis, goal), scale = 1.0;
    if (sine > 1e-9) {
        scale = atan2(sine, cosine) / sine;
    } else if (!(cosine > 0.0)) {
        across_axis(axis, turn, other);
        scale = 3.14159265358979323846;
    }
    for (int k = 0; k < 3; k++)
        turn[k] *= scale;
}

/* Vectors by value, for formulas that nest them: nothing is stored, the compiler keeps them in registers. */
typedef struct {
    double x, y, z;
} Vector3;

static inline Vector3 vector3(double x, double y, double z)
{
    return (Vector3){x, y, z};
}

/* a + b */
static inline Vector3 plus(Vector3 a, Vector3 b)
{
    return vector3(a.x + b.x, a.y + b.y, a.z + b.z);
}

/* a - b */
static inline Vector3 minus(Vector3 a, Vector3 b)
{
    return vector3(a.x - b.x, a.y - b.y, a.z - b.z);
}

/* factor a */
static inline Vector3 times(double factor, Vector3 a)
{
    return vector3(factor * a.x, factor * a.y, factor * a.z);
}

/* a . b */
static inline double dot(Vector3 a, Vector3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a x b */
static inline Vector3 cross(Vector3 a, Vector3 b)
{
    return vector3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* |a| */
static inline double norm(Vector3 a)
{
    return sqrt(dot(a, a));
}

/* factors.x a + factors.y b + factors.z c */
static inline Vector3 combined(Vector3 factors, Vector3 a, Vector3 b, Vector3 c)
{
    return vector3(factors.x * a.x + factors.y * b.x + factors.z * c.x,
                   factors.x * a.y + factors.y * b.y + factors.z * c.y,
                   factors.x * a.z + factors.y * b.z + factors.z * c.z);
}

/* The part of a that is perpendicular to a unit axis. */
static inline Vector3 across(Vector3 a, Vector3 axis)
{
    return minus(a, times(dot(a, axis), axis));
}

/* a turned about a unit axis by an angle of that cosine and sine: c a + s axis x a + (1 - c) (axis . a) axis. */
static inline Vector3 turned(Vector3 a, Vector3 axis, double cosine, double sine)
{
    double along = (1.0 - cosine) * dot(axis, a);
    Vector3 b = cross(axis, a);
    return vector3(cosine * a.x + sine * b.x + along * axis.x, cosine * a.y + sine * b.y + along * axis.y,
                   cosine * a.z + sine * b.z + along * axis.z);
}

/* The point x turned about the line through another point. */
static inline Vector3 turned_about(Vector3 x, Vector3 point, Vector3 axis, double cosine, double sine)
{
    return plus(point, turned(minus(x, point), axis, cosine, sine));
}

/* atan2(y, x) of finite numbers, to 5e-16, in half the library's time: the rational function of Cephes. */
static inline double arctangent(double y, double x)
{
    const double pi = 3.14159265358979323846;
    double width = fabs(x), height = fabs(y);
    double large = width > height ? width : height, small = width > height ? height : width;
    int steep = small > 0.66 * large;
    double numerator = steep ? small - large : small;
    double denominator = steep ? small + large : (large > 0.0 ? large : 1.0);
    double z = numerator / denominator, w = z * z;
    double p = -8.750608600031904122785e-1;
    p = p * w - 1.615753718733365076637e1;
    p = p * w - 7.500855792314704667340e1;
    p = p * w - 1.228866684490136173410e2;
    p = p * w - 6.485021904942025371773e1;
    double q = w + 2.485846490142306297962e1;
    q = q * w + 1.650270098316988542046e2;
    q = q * w + 4.328810604912902668951e2;
    q = q * w + 4.853903996359136964868e2;
    q = q * w + 1.945506571482613964425e2;
    double angle = (steep ? 0.25 * pi : 0.0) + (z * (w * p / q) + z);
    angle = height > width ? 0.5 * pi - angle : angle;
    angle = x < 0.0 ? pi - angle : angle;
    return y >= 0.0 ? angle : -angle;
}

#endif
