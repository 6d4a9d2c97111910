/* pose.c - PoseTrajectory: rotation, angular velocity and acceleration where turns follow each other. */
#include <string.h>

#include "wholebody/motion/motion.h"
#include "wholebody/rotations.h"

/* With A the rotation so far and u = A phi_i:  dw += w x b' u + b'' u;  w += b' u;  A <- A exp(b phi_i). */
void turn_pose(const Turning *turning, const double *const rates[3], double *quaternion, double w[3], double dw[3])
{
    double A[9];
    memcpy(A, turning->start, sizeof A);
    memset(w, 0, 3 * sizeof *w);
    memset(dw, 0, 3 * sizeof *dw);
    for (int i = 0; i < turning->turns; i++) {
        const double *phi = turning->phi + 3 * i;
        double b = rates[0][3 + i], db = rates[1][3 + i], ddb = rates[2][3 + i], u[3], across[3], step[9], next[9];
        double turn[3] = {b * phi[0], b * phi[1], b * phi[2]};
        rotate(A, phi, u);
        cross3(w, u, across);
        for (int k = 0; k < 3; k++) {
            dw[k] += ddb * u[k] + db * across[k];
            w[k] += db * u[k];
        }
        matrix_of_rotation_vector(turn, step);
        product_of_rotations(A, step, next);
        memcpy(A, next, sizeof A);
    }
    quaternion_of_matrix(A, quaternion);
}
