/* forces.c - rows of tasks on the wrenches of contacts. */
#include "wholebody/tasks/tasks.h"

#include "wholebody/rotations.h"

/* The two moments about a point of the sole that shall vanish, in its axes x, y, z:
 *     m_y + goal_x f_z = 0,  m_x - goal_y f_z = 0 */
void center_of_pressure_rows(double placement[4][4], const double goal[2], double rows[2][6])
{
    for (int j = 0; j < 3; j++) {
        rows[0][j] = goal[0] * placement[j][2];
        rows[0][3 + j] = placement[j][1];
        rows[1][j] = -goal[1] * placement[j][2];
        rows[1][3 + j] = placement[j][0];
    }
}

/* Half the unit direction from contact a to contact b: the row on the force of b; that on the force of a is its opposite. */
void internal_force_row(const Snapshot *now, int frame_a, int frame_b, double row[3])
{
    for (int k = 0; k < 3; k++)
        row[k] = now->lever[frame_b][k] - now->lever[frame_a][k];
    double half = 0.5 / norm3(row);
    for (int k = 0; k < 3; k++)
        row[k] *= half;
}
