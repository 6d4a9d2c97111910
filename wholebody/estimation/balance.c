/* balance.c - BalanceEstimator: makes a Balance of what the filter says: base, centre of mass, capture point, centre of
 * pressure. */
#include <math.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

static const double UPWARD = 9.81;       /* m/s^2: gravity */
static const double LEAST_HEIGHT = 0.02; /* m: a centre of mass that is lower above the ground has fallen, no pendulum */

int balance_size(int feet)
{
    return 25 + 29 * feet;
}

/* Fields one after the other, as in balance.py. */
Balance balance_in(int feet, double *storage, uint8_t *contact)
{
    Balance balance = {.contact = contact};
    balance.orientation = storage;
    balance.angular_velocity = storage + 4;
    balance.base_in_world = storage + 7;
    balance.base_velocity = storage + 10;
    balance.com_in_world = storage + 13;
    balance.com_velocity = storage + 16;
    balance.capture_point = storage + 19;
    balance.cop_in_world = storage + 22;
    balance.probability = storage + 25;
    balance.wrench_in_sole = (double (*)[6])(balance.probability + feet);
    balance.cop_in_sole = (double (*)[2])(balance.wrench_in_sole + feet);
    balance.sole_to_world = (double (*)[4][4])(balance.cop_in_sole + feet);
    balance.flexion = (double (*)[2])(balance.sole_to_world + feet);
    balance.flexion_rate = (double (*)[2])(balance.flexion + feet);
    return balance;
}

/* Move the IMU's place with its velocity, or to where ankles that stand firmly say it is, by the load they bear:
 *
 *   place = sum load (anchor - R p) / sum load
 *
 * A foot whose sole has come to lie flat gets its anchor where it is by then. */
static void move_place(const BalanceParts *parts, const double R[9], double dt)
{
    const BalanceEstimator *estimator = parts->estimator;
    double *place = estimator->memory->place, moved[3], loads = 0.0, sum[3] = {0.0};
    rotate(R, parts->filter->body->velocity, moved);
    for (int i = 0; i < 3; i++)
        place[i] += dt * moved[i];
    for (int foot = 0; foot < estimator->feet; foot++) {
        const Leg *leg = &parts->filter->leg[foot];
        if (leg->firm == 0.0 || estimator->odometry[foot].stands == 0.0)
            continue;
        double load = fmax(1.0, estimator->balance.wrench_in_sole[foot][2]), far[3];
        rotate(R, leg->p, far);
        loads += load;
        for (int i = 0; i < 3; i++)
            sum[i] += load * (estimator->odometry[foot].anchor[i] - far[i]);
    }
    for (int i = 0; i < 3 && loads > 0.0; i++)
        place[i] = sum[i] / loads;
    for (int foot = 0; foot < estimator->feet; foot++) {
        const Leg *leg = &parts->filter->leg[foot];
        FootOdometry *odometry = &estimator->odometry[foot];
        double far[3];
        rotate(R, leg->p, far);
        for (int i = 0; i < 3 && leg->firm != 0.0 && odometry->stands == 0.0; i++)
            odometry->anchor[i] = place[i] + far[i];
        odometry->stands = leg->firm;
    }
}

/* Where a sole is, bent ankle included: R E X(q) turns it into the world, X = Rx(q1) Ry(q2). */
static void place_sole(const BalanceParts *parts, const double R[9], int foot)
{
    const Leg *leg = &parts->filter->leg[foot];
    const double *flexion = parts->filter->foot[foot].flexion;
    double (*sole)[4] = parts->estimator->balance.sole_to_world[foot], RE[9], ankle[3], far[3];
    double cr = cos(flexion[0]), sr = sin(flexion[0]), cp = cos(flexion[1]), sp = sin(flexion[1]);
    product_of_rotations(R, leg->E, RE);
    rotate(R, leg->p, ankle);
    for (int i = 0; i < 3; i++) {
        double a = RE[3 * i], b = RE[3 * i + 1] * cr + RE[3 * i + 2] * sr, c = RE[3 * i + 2] * cr - RE[3 * i + 1] * sr;
        sole[i][0] = a * cp - c * sp, sole[i][1] = b, sole[i][2] = a * sp + c * cp;
    }
    rotate_by_placement(sole, parts->estimator->geometry[foot].sole_from_ankle, far);
    for (int i = 0; i < 3; i++)
        sole[i][3] = parts->estimator->memory->place[i] + ankle[i] + far[i];
    sole[3][3] = 1.0;
}

/* Centres of pressure: (-m_y, m_x) / f_z in each sole, and of all, by their forces, in world. */
static void find_pressure(const BalanceEstimator *estimator)
{
    const Balance *balance = &estimator->balance;
    double total = 0.0, sum[3] = {0.0};
    for (int foot = 0; foot < estimator->feet; foot++) {
        const double *wrench = balance->wrench_in_sole[foot];
        double *cop = balance->cop_in_sole[foot], (*sole)[4] = balance->sole_to_world[foot];
        cop[0] = cop[1] = 0.0;
        if (!balance->contact[foot] || wrench[2] < estimator->memory->least)
            continue;
        cop[0] = -wrench[4] / wrench[2];
        cop[1] = wrench[3] / wrench[2];
        total += wrench[2];
        for (int i = 0; i < 3; i++)
            sum[i] += wrench[2] * (sole[i][3] + sole[i][0] * cop[0] + sole[i][1] * cop[1]);
    }
    for (int i = 0; i < 3 && total > 0.0; i++)
        balance->cop_in_world[i] = sum[i] / total;
}

/* Base and centre of mass, from the IMU's attitude R, velocity and place. The snapshot has the base at the origin,
 * unturned, so what it says is in the axes of the base. */
static void find_base(const BalanceParts *parts, const double R[9])
{
    const Balance *balance = &parts->estimator->balance;
    const BodyState *body = parts->filter->body;
    const Snapshot *now = parts->now;
    double (*imu)[4] = now->placement[parts->estimator->imu], R_base[9], rate[3], far[3], com[3], u[3];
    const double *relative = now->velocity[parts->estimator->imu];
    double *w = balance->angular_velocity, *v = balance->base_velocity, p[3] = {imu[0][3], imu[1][3], imu[2][3]};
    for (int i = 0; i < 3; i++)
        rate[i] = parts->filter->motion->gyro[i] - body->gyro_bias[i];
    rotate_by_placement(imu, rate, w);
    rotate_by_placement(imu, body->velocity, v);
    for (int i = 0; i < 3; i++) {
        rotate_by_placement(imu, R + 3 * i, R_base + 3 * i); /* R_base = R R_imu^T, row by row */
        w[i] -= relative[3 + i];
        v[i] -= relative[i];
    }
    cross3(w, p, far);
    cross3(w, now->com, u);
    for (int i = 0; i < 3; i++) {
        v[i] -= far[i];
        u[i] += v[i] + now->com_velocity[i];
    }
    rotate(R_base, p, far);
    rotate(R_base, now->com, com);
    rotate(R_base, u, balance->com_velocity);
    for (int i = 0; i < 3; i++) {
        balance->base_in_world[i] = parts->estimator->memory->place[i] - far[i];
        balance->com_in_world[i] = balance->base_in_world[i] + com[i];
    }
    quaternion_of_matrix(R_base, balance->orientation);
}

/* Capture point, c + c' / sqrt(g / height), and the horizontal forces of a pendulum, in the axes of each sole. */
static void find_capture_point(const BalanceEstimator *estimator)
{
    const Balance *balance = &estimator->balance;
    const double *com = balance->com_in_world, *cop = balance->cop_in_world;
    double height = fmax(LEAST_HEIGHT, com[2] - cop[2]), time = sqrt(height / UPWARD), lean[2];
    for (int i = 0; i < 2; i++) {
        balance->capture_point[i] = com[i] + time * balance->com_velocity[i];
        lean[i] = (com[i] - cop[i]) / height;
    }
    balance->capture_point[2] = cop[2];
    for (int foot = 0; foot < estimator->feet; foot++) {
        double (*sole)[4] = balance->sole_to_world[foot];
        for (int i = 0; i < 2; i++)
            estimator->odometry[foot].lean[i] = sole[0][i] * lean[0] + sole[1][i] * lean[1];
    }
}

/* Fill in a balance, whose wrenches are there already. */
void show_balance(const BalanceParts *parts, double dt)
{
    const Balance *balance = &parts->estimator->balance;
    double R[9];
    matrix_of_quaternion(parts->filter->body->orientation, R);
    move_place(parts, R, dt);
    for (int foot = 0; foot < parts->estimator->feet; foot++) {
        balance->contact[foot] = parts->filter->leg[foot].contact != 0.0;
        balance->probability[foot] = parts->contacts->probability[foot];
        for (int axis = 0; axis < 2; axis++) {
            balance->flexion[foot][axis] = parts->filter->foot[foot].flexion[axis];
            balance->flexion_rate[foot][axis] = parts->filter->foot[foot].flexion_rate[axis];
        }
        place_sole(parts, R, foot);
    }
    find_pressure(parts->estimator);
    find_base(parts, R);
    find_capture_point(parts->estimator);
}
