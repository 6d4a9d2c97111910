/* contacts.c - contacts that do not slip: flat (a sole), along a line (an edge), at a point (a fingertip). */
#include "wholebody/constraints/constraints.h"

#include "wholebody/rotations.h"

/* Its numbers. Flat: none. Point: where it is in its frame. Line: the axis of the edge, a point of it.
 *
 * Three rows of the point's velocity, then those of the angular velocity that is held: all, the two about axes of the
 * body across the edge, or none. */
void fill_contact(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out)
{
    int frame = constraint->frame;
    double (*R)[4] = now->placement[frame];
    const double *parameters = constraint->numbers + 1, *alpha = now->bias[frame] + 3;
    double d[3] = {0.0, 0.0, 0.0}, velocity[3], p[3], B[6][6] = {{0}};
    if (constraint->kind == CONSTRAINT_POINT)
        rotate_by_placement(R, parameters, d);
    else if (constraint->kind == CONSTRAINT_LINE)
        rotate_by_placement(R, parameters + 3, d);
    point_motion(now, frame, d, velocity, out.bias);
    for (int k = 0; k < 3; k++) {
        B[k][k] = 1.0;
        p[k] = now->lever[frame][k] + d[k];
    }
    if (constraint->kind == CONSTRAINT_FLAT)
        for (int k = 3; k < 6; k++) {
            B[k][k] = 1.0;
            out.bias[k] = alpha[k - 3];
        }
    if (constraint->kind == CONSTRAINT_LINE) {
        double across[2][3];
        across_axis(parameters, across[0], across[1]);
        for (int k = 0; k < 2; k++) {
            rotate_by_placement(R, across[k], B[3 + k] + 3);
            out.bias[3 + k] = dot3(B[3 + k] + 3, alpha);
        }
    }
    add_point_rows(tree, now, frame, p, B, constraint->rows, out.J, 0);
}

static void note_place(ContactPlace *place, const Snapshot *now, int frame)
{
    place->known = true;
    for (int i = 0; i < 3; i++) {
        place->position[i] = now->position[frame][i];
        for (int j = 0; j < 3; j++)
            place->rotation[3 * i + j] = now->placement[frame][i][j];
    }
}

/* e of the point: how far it is from where it was. Of the rotation: axis times sine of the angle from R0 to R, which is
 * half the sum of the cross products of their columns. */
void add_contact_stiffness(const Constraint *constraint, const Snapshot *now, double stiffness, double *bias)
{
    int frame = constraint->frame;
    double (*R)[4] = now->placement[frame];
    ContactPlace *place = constraint->place;
    const double *parameters = constraint->numbers + 1, *R0 = place->rotation, nothing[3] = {0.0, 0.0, 0.0};
    const double *point = constraint->kind == CONSTRAINT_POINT ? parameters :
                          constraint->kind == CONSTRAINT_LINE ? parameters + 3 : nothing;
    double d[3], d0[3], turned[3] = {0.0, 0.0, 0.0};
    if (!place->known)
        note_place(place, now, frame);
    rotate_by_placement(R, point, d);
    rotate(R0, point, d0);
    for (int k = 0; k < 3; k++)
        bias[k] += stiffness * (now->position[frame][k] + d[k] - place->position[k] - d0[k]);
    for (int k = 0; k < 3; k++) {
        double from[3] = {R0[k], R0[3 + k], R0[6 + k]}, to[3] = {R[0][k], R[1][k], R[2][k]}, half[3];
        cross3(from, to, half);
        for (int i = 0; i < 3; i++)
            turned[i] += 0.5 * half[i];
    }
    if (constraint->kind == CONSTRAINT_FLAT)
        for (int k = 0; k < 3; k++)
            bias[3 + k] += stiffness * turned[k];
    if (constraint->kind == CONSTRAINT_LINE) {
        double across[2][3], axis[3];
        across_axis(parameters, across[0], across[1]);
        for (int k = 0; k < 2; k++) {
            rotate_by_placement(R, across[k], axis);
            bias[3 + k] += stiffness * dot3(axis, turned);
        }
    }
}
