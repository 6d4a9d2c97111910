/* configuration.c - q moved along a velocity, and the velocity that leads from one q to another. */
#include "wholebody/model/model.h"

#include <math.h>

#include "wholebody/rotations.h"

static const double SMALL_ANGLE = 1e-4; /* rad: below it, series take the place of quotients */

/* p + R V t and quaternion (x) exp(theta / 2), where theta = w dt, t = v dt, V = 1 + b [theta]x + c [theta]x^2. */
static void integrate_base(const double *q, const double *v, double dt, double *result)
{
    double theta[3], t[3], u[3], uu[3], way[3], turn[4], next[4];
    for (int k = 0; k < 3; k++)
        theta[k] = dt * v[3 + k], t[k] = dt * v[k];
    double square = dot3(theta, theta), angle = sqrt(square);
    double b = 0.5 - square / 24, c = 1.0 / 6 - square / 120, s = 0.5 - square / 48;
    if (angle > SMALL_ANGLE) {
        b = (1 - cos(angle)) / square;
        c = (angle - sin(angle)) / (square * angle);
        s = sin(0.5 * angle) / angle;
    }
    cross3(theta, t, u);
    cross3(theta, u, uu);
    for (int k = 0; k < 3; k++) {
        t[k] += b * u[k] + c * uu[k];
        turn[k] = s * theta[k];
    }
    turn[3] = cos(0.5 * angle);
    rotate_by_quaternion(q + 3, t, way);
    quaternion_product(q + 3, turn, next);
    double length = sqrt(next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3]);
    for (int k = 0; k < 3; k++)
        result[k] = q[k] + way[k];
    for (int k = 0; k < 4; k++)
        result[3 + k] = next[k] / length;
}

/* The base moves along the screw of its own velocity for dt, the joints add v dt. */
void integrate_configuration(const Tree *tree, const double *q, const double *v, double dt, double *result)
{
    int first_q = tree->floating ? 7 : 0, first_v = tree->floating ? 6 : 0;
    if (tree->floating)
        integrate_base(q, v, dt, result);
    for (int i = 0; i < tree->nv - first_v; i++)
        result[first_q + i] = q[first_q + i] + dt * v[first_v + i];
}

/* theta from the quaternion q0^-1 q1, and t = V^-1 R0^T (p1 - p0), V^-1 = 1 - [theta]x / 2 + k [theta]x^2; the shorter
 * way round. */
static void base_difference(const double *q0, const double *q1, double *result)
{
    double back[4] = {-q0[3], -q0[4], -q0[5], q0[6]}, turn[4], way[3], t[3], u[3], uu[3], theta[3];
    quaternion_product(back, q1 + 3, turn);
    double sign = turn[3] < 0 ? -1.0 : 1.0;
    double sine = norm3(turn), cosine = sign * turn[3], angle = 2 * atan2(sine, cosine);
    double scale = 2 * (1 + angle * angle / 24), k = 1.0 / 12 + angle * angle / 720;
    if (angle > SMALL_ANGLE) {
        scale = angle / sine;
        k = (1 - 0.5 * angle * cosine / sine) / (angle * angle);
    }
    for (int i = 0; i < 3; i++) {
        theta[i] = scale * sign * turn[i];
        way[i] = q1[i] - q0[i];
    }
    rotate_by_quaternion(back, way, t);
    cross3(theta, t, u);
    cross3(theta, u, uu);
    for (int i = 0; i < 3; i++) {
        result[i] = t[i] - 0.5 * u[i] + k * uu[i];
        result[3 + i] = theta[i];
    }
}

void difference_of_configurations(const Tree *tree, const double *q0, const double *q1, double *result)
{
    int first_q = tree->floating ? 7 : 0, first_v = tree->floating ? 6 : 0;
    if (tree->floating)
        base_difference(q0, q1, result);
    for (int i = 0; i < tree->nv - first_v; i++)
        result[first_v + i] = q1[first_q + i] - q0[first_q + i];
}
