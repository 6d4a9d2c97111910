/* distances.c - which pairs of shapes may come too near within a period. */
#include "wholebody/control/quadratic/distances.h"

#include "wholebody/rotations.h"

void place_shapes(const Shapes *shapes, const Snapshot *now)
{
    for (int s = 0; s < shapes->count; s++) {
        int64_t frame = shapes->frame[s];
        double (*at)[4] = shapes->at[s], (*P)[4] = now->placement[frame], arm[3], bias[3];
        double origin[3] = {at[0][3], at[1][3], at[2][3]};
        rotate_by_placement(P, origin, arm);
        point_motion(now, (int)frame, arm, shapes->velocity[s], bias);
        for (int i = 0; i < 3; i++) {
            shapes->centre[s][i] = P[i][3] + arm[i];
            shapes->spin[s][i] = now->velocity[frame][3 + i];
            shapes->half[s][i] = 0.0;
            for (int j = 0; j < 3; j++) {
                double total = P[i][0] * at[0][j] + P[i][1] * at[1][j] + P[i][2] * at[2][j];
                shapes->rotation[s][3 * i + j] = total;
                shapes->half[s][i] += total * shapes->axis[s][j];
            }
        }
    }
}

/* How far apart two centres are, and the greatest speed of a point of the other, seen from the one as it turns. */
static double apart_and_speed(const Shapes *shapes, int64_t one, int64_t other, double *speed)
{
    double apart[3], seen[3], carried[3], turning[3];
    for (int i = 0; i < 3; i++) {
        apart[i] = shapes->centre[other][i] - shapes->centre[one][i];
        turning[i] = shapes->spin[other][i] - shapes->spin[one][i];
    }
    cross3(shapes->spin[one], apart, carried);
    for (int i = 0; i < 3; i++)
        seen[i] = shapes->velocity[other][i] - shapes->velocity[one][i] - carried[i];
    *speed = norm3(seen) + norm3(turning) * shapes->radius[other][1];
    return norm3(apart);
}

/* ((s + a dt)^2 - (a dt)^2) / 2a is needed for a speed s that is braked with a. */
static double way_to_stop(double speed, Reach reach)
{
    speed += reach.sudden * reach.period;
    return (speed + 2.0 * reach.braking * reach.period) * speed / (2.0 * reach.braking);
}

/* How fast the nearest points of two segments come nearer. */
static double closing_speed(const Shapes *shapes, int64_t one, int64_t other, Nearest nearest)
{
    double mine[3], theirs[3], square = 0.0, rate = 0.0;
    cross3(shapes->spin[one], shapes->half[one], mine);
    cross3(shapes->spin[other], shapes->half[other], theirs);
    for (int i = 0; i < 3; i++) {
        double d = shapes->centre[one][i] + nearest.s * shapes->half[one][i] - shapes->centre[other][i] -
                   nearest.t * shapes->half[other][i];
        double faster = shapes->velocity[one][i] + nearest.s * mine[i] - shapes->velocity[other][i] - nearest.t * theirs[i];
        square += d * d;
        rate += d * faster;
    }
    return -rate / sqrt(fmax(square, 1e-12));
}

/* |d + s h - t k|^2 by its products, d from the other's centre to the one's. */
typedef struct {
    double hh, kk, hk, dh, dk, dd;
} Products;

static void take_nearer(Nearest *best, Products p, double s, double t)
{
    double square = p.dd + s * (2.0 * p.dh + s * p.hh) + t * (-2.0 * p.dk + t * p.kk) - 2.0 * s * t * p.hk;
    if (square < best->distance)
        *best = (Nearest){square, s, t};
}

static double within_one(double x)
{
    return fmax(-1.0, fmin(1.0, x));
}

/* Of two shapes, by the segments c + s h with -1 <= s <= 1: the least |d + s h1 - t h2|, less radii. */
Nearest capsule_distance(const Shapes *shapes, int64_t one, int64_t other)
{
    const double *h = shapes->half[one], *k = shapes->half[other];
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = shapes->centre[one][i] - shapes->centre[other][i];
    Products p = {dot3(h, h), dot3(k, k), dot3(h, k), dot3(d, h), dot3(d, k), dot3(d, d)};
    Nearest best = {INFINITY, 0.0, 0.0};
    double determinant = p.hh * p.kk - p.hk * p.hk;
    if (determinant > 1e-12 * p.hh * p.kk) {
        double s = (p.hk * p.dk - p.kk * p.dh) / determinant, t = (p.hh * p.dk - p.hk * p.dh) / determinant;
        if (fabs(s) <= 1.0 && fabs(t) <= 1.0)
            take_nearer(&best, p, s, t);
    }
    for (int end = -1; end <= 1; end += 2) { /* else one of the four ends is nearest */
        take_nearer(&best, p, end, p.kk > 0.0 ? within_one((p.dk + end * p.hk) / p.kk) : 0.0);
        take_nearer(&best, p, p.hh > 0.0 ? within_one((end * p.hk - p.dh) / p.hh) : 0.0, end);
    }
    best.distance = sqrt(fmax(best.distance, 0.0)) - shapes->radius[one][0] - shapes->radius[other][0];
    return best;
}

/* How far a capsule is at least from a shape in a box, by the box around its segment along the same axes. */
static double beside_box(const Shapes *shapes, int64_t box, int64_t other)
{
    if (shapes->box[box][0] == 0.0)
        return 0.0;
    double d[3], centre[3], half[3], square = 0.0;
    for (int i = 0; i < 3; i++)
        d[i] = shapes->centre[other][i] - shapes->centre[box][i];
    rotate_back(shapes->rotation[box], d, centre);
    rotate_back(shapes->rotation[box], shapes->half[other], half);
    for (int j = 0; j < 3; j++) {
        double gap = fabs(centre[j]) - fabs(half[j]) - shapes->box[box][j];
        if (gap > 0.0)
            square += gap * gap;
    }
    return sqrt(square) - shapes->radius[other][0];
}

int list_near(const Shapes *shapes, const int64_t (*pairs)[2], int count, Reach reach, int64_t *near, double *room)
{
    int found = 0;
    for (int index = 0; index < count; index++) {
        int64_t one = pairs[index][0], other = pairs[index][1];
        double speed, apart = apart_and_speed(shapes, one, other, &speed);
        double within = reach.clearance + way_to_stop(speed, reach);
        if (apart - shapes->radius[one][1] - shapes->radius[other][1] > within)
            continue;
        Nearest nearest = capsule_distance(shapes, one, other);
        double distance = nearest.distance;
        if (shapes->box[one][0] == 0.0 && shapes->box[other][0] == 0.0) {
            speed = fmax(closing_speed(shapes, one, other, nearest), 0.0);
            within = reach.clearance + way_to_stop(speed, reach);
        } else {
            distance = fmax(distance, fmax(beside_box(shapes, one, other), beside_box(shapes, other, one)));
        }
        if (distance < within) {
            near[found] = index;
            room[found++] = (distance - reach.clearance) / (within - reach.clearance);
        }
    }
    return found;
}
