/* Wave with the right arm for some seconds and take it down again, from wherever it is.
 *
 *   wholebody start        (or: wholebody start --driver mini, or --driver full)
 *   wholebody channels header robot.state --as robot_state -o robot_state.h
 *   wholebody channels header robot.commanded --as robot_commanded -o robot_commanded.h
 *   gcc -O2 -I. examples/wave.c $(wholebody channels cflags) -lm -o wave
 *   ./wave 6
 *
 * The same source moves every robot, compiled with its headers: what is commanded has the layout of every controller's
 * reference. The name of another robot follows the seconds. A joint that it lacks is left out, with one warning (Mini-Hubo
 * has no RWY).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robot_commanded.h"
#include "robot_state.h"

#define PI 3.14159265358979323846
#define SECOND 1000000000
#define READY 3 /* flags of a joint whose driver and controller are on: wholebody.messages.READY */

typedef struct raised {
    const char *joint;
    double goal, swing, start;
    int index;
} raised;

static raised arm[] = {
    {"RSP", -0.8, 0.0, 0.0, -1},
    {"RSR", -0.6, 0.25, 0.0, -1},
    {"REB", -1.4, 0.0, 0.0, -1},
    {"RWY", 0.4, 0.0, 0.0, -1},
};
enum { arm_count = sizeof arm / sizeof arm[0] };

static int index_of(const char *joint)
{
    for (int i = 0; i < robot_state_joints_count; i++)
        if (strcmp(robot_state_joints_names[i], joint) == 0)
            return i;
    fprintf(stderr, "wave: this robot has no joint '%s', so references to it are left out\n", joint);
    return -1;
}

/* Joints that are off would not move. */
static int is_off(const robot_state *state)
{
    for (int i = 0; i < arm_count; i++)
        if (arm[i].index >= 0 && (state->status[arm[i].index] & READY) != READY) {
            fprintf(stderr, "wave: %s is off or not homed, so nothing moves; first: wholebody console -c homeAll\n",
                    arm[i].joint);
            return 1;
        }
    return 0;
}

static int open_channel(wb_ring **ring, const char *robot, const char *what, const wb_layout *layout)
{
    char name[2 * WB_NAME_MAX], path[WB_PATH_MAX];
    snprintf(name, sizeof name, "%s.%s", robot, what);
    int status = wb_path(name, path);
    return status < 0 ? status : wb_open(ring, path, layout, 64, 16);
}

static int fail(int64_t status)
{
    fprintf(stderr, "wave: %s\n", wb_explain(status));
    return 1;
}

/* Put the arm at a share of its way up, with the swing of an instant. */
static int64_t move(wb_writer *writer, robot_commanded *reference, double up, double t)
{
    for (int i = 0; i < arm_count; i++)
        if (arm[i].index >= 0) {
            double way = arm[i].goal - arm[i].start + arm[i].swing * sin(2 * PI * t);
            reference->position[arm[i].index] = arm[i].start + up * way;
            reference->mask[arm[i].index] = 1;
        }
    return wb_put(writer, reference);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 6.0, begin = 0.0, t = 0.0;
    const char *robot = argc > 2 ? argv[2] : "robot";
    int done = 0;
    wb_ring *states, *references;
    wb_reader *reader;
    wb_writer *writer;
    robot_state state;
    robot_commanded reference;
    memset(&reference, 0, sizeof reference);

    int status = open_channel(&states, robot, "state", &robot_state_layout);
    if (status == 0)
        status = open_channel(&references, robot, "wave.reference", &robot_commanded_layout);
    if (status == 0)
        status = wb_reader_open(&reader, states);
    if (status == 0)
        status = wb_writer_open(&writer, references);
    if (status < 0)
        return fail(status);

    for (int i = 0; i < arm_count; i++)
        arm[i].index = index_of(arm[i].joint);

    /* As long as states keep coming; the first one says where the arm is. */
    wb_latest(reader, &state);
    for (int first = 1; wb_wait(&reader, 1, wb_now() + 2 * (int64_t)SECOND, 0) == 1; first = 0) {
        status = wb_latest(reader, &state);
        if (status < 0)
            return fail(status);
        if (status == 0)
            break;
        if (first) {
            begin = state.time;
            if (is_off(&state))
                return 1;
            for (int i = 0; i < arm_count; i++)
                arm[i].start = arm[i].index < 0 ? 0.0 : state.position[arm[i].index];
        }
        t = state.time - begin;
        done = t >= seconds;
        if (done)
            break;
        double share = fmin(1.0, fmin(2 * t / seconds, 4 * (1 - t / seconds)));
        reference.time = state.time;
        int64_t sequence = move(writer, &reference, 0.5 - 0.5 * cos(PI * share), t);
        if (sequence < 0)
            return fail(sequence);
    }
    if (done)
        move(writer, &reference, 0.0, t);
    else
        fprintf(stderr, "wave: no state for 2 s; does the robot run? see: wholebody status\n");

    wb_writer_close(writer);
    wb_reader_close(reader);
    wb_close(references);
    wb_close(states);
    return done ? 0 : 1;
}
