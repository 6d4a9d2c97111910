/* support_area.c - convex polygons that feet span: corners in world, the nearest point inside, how far out a point is. */
#include "wholebody/locomotion/locomotion.h"

#include <math.h>

/* Corners of a foot at x, y, yaw. */
void place_outline(Polygon outline, const double place[3], double (*corners)[2])
{
    double c = cos(place[2]), s = sin(place[2]);
    for (int i = 0; i < outline.count; i++) {
        corners[i][0] = place[0] + c * outline.corners[i][0] - s * outline.corners[i][1];
        corners[i][1] = place[1] + s * outline.corners[i][0] + c * outline.corners[i][1];
    }
}

/* The point of a convex polygon that is nearest to a point: itself if it is inside. */
void nearest_inside(Polygon area, const double point[2], double nearest[2])
{
    bool inside = true;
    double best = INFINITY, found[2] = {point[0], point[1]};
    for (int i = 0; i < area.count; i++) {
        const double *a = area.corners[i], *b = area.corners[(i + 1) % area.count];
        double ex = b[0] - a[0], ey = b[1] - a[1], dx = point[0] - a[0], dy = point[1] - a[1];
        if (ex * dy - ey * dx < 0.0)
            inside = false;
        double along = clamp((dx * ex + dy * ey) / larger(ex * ex + ey * ey, 1e-18), 0.0, 1.0);
        double px = a[0] + along * ex, py = a[1] + along * ey;
        double away = (point[0] - px) * (point[0] - px) + (point[1] - py) * (point[1] - py);
        if (away < best)
            best = away, found[0] = px, found[1] = py;
    }
    nearest[0] = inside ? point[0] : found[0];
    nearest[1] = inside ? point[1] : found[1];
}

/* How large a share of the area, scaled about its middle, just holds the point: 0 in the middle, 1 on the edge. */
double share_of_area(Polygon area, const double point[2])
{
    double cx = 0.0, cy = 0.0, share = 0.0;
    for (int i = 0; i < area.count; i++)
        cx += area.corners[i][0] / area.count, cy += area.corners[i][1] / area.count;
    for (int i = 0; i < area.count; i++) {
        const double *a = area.corners[i], *b = area.corners[(i + 1) % area.count];
        double nx = b[1] - a[1], ny = a[0] - b[0]; /* outward */
        double reach = nx * (a[0] - cx) + ny * (a[1] - cy);
        if (reach > 0.0)
            share = larger(share, (nx * (point[0] - cx) + ny * (point[1] - cy)) / reach);
    }
    return share;
}
