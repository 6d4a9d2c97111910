/* support.c - support polygons: where points of contact are, their convex hull, how far inside it a point stands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wholebody/model/support.h"

/* Left before right, then by y. */
static int by_place(const void *one, const void *other)
{
    const double *a = one, *b = other;
    int x = (a[0] > b[0]) - (a[0] < b[0]);
    return x ? x : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Twice the area of the triangle a, b, c: positive if it turns left. */
static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Andrew's monotone chain: along the lower side, then back along the upper; the points are sorted. */
int convex_hull(double (*points)[2], int count, double grid, double (*chain)[2])
{
    int size = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            points[i][k] = rint(points[i][k] / grid) * grid;
    qsort(points, (size_t)count, sizeof *points, by_place);
    for (int way = 0; way < 2; way++) {
        int start = size;
        for (int step = 0; step < count; step++) {
            const double *point = points[way == 0 ? step : count - 1 - step];
            while (size >= start + 2 && turn(chain[size - 2], chain[size - 1], point) <= 0.0)
                size--;
            if (size == start || point[0] != chain[size - 1][0] || point[1] != chain[size - 1][1])
                memcpy(chain[size++], point, sizeof *chain);
        }
        size--; /* the last corner of this side begins the other */
    }
    int least = count < 1 ? 0 : 1;
    return size > least ? size : least;
}

/* From each edge, the distance to its nearest point; inside is where all edges have the point on their left. */
double signed_distance(double (*corners)[2], int count, double x, double y)
{
    double nearest = (double)INFINITY;
    bool inside = count > 2;
    for (int i = 0; i < count; i++) {
        const double *a = corners[i], *b = corners[(i + 1) % count];
        double ex = b[0] - a[0], ey = b[1] - a[1], dx = x - a[0], dy = y - a[1];
        double square = ex * ex + ey * ey;
        double along = square == 0.0 ? 0.0 : fmin(1.0, fmax(0.0, (dx * ex + dy * ey) / square));
        nearest = fmin(nearest, hypot(dx - along * ex, dy - along * ey));
        inside = inside && !(ex * dy - ey * dx < 0.0);
    }
    return inside ? nearest : -nearest;
}
