/* A simulator of your own in C: each joint goes towards its command, a twentieth of a second behind.
 * The channels are those of a robot that was started once: wholebody start hubo2plus; wholebody stop
 *
 *   for name in simulated commanded to_simulator from_simulator; do
 *       wholebody channels header robot.$name -o robot_$name.h
 *   done
 *   gcc -O2 -I. simulator.c $(wholebody channels cflags) -o simulator
 *   ./simulator &
 *   wholebody start hubo2plus      (takes the simulator that is there, and goes on in its time)
 */
#include <stdio.h>
#include <string.h>

#include "robot_commanded.h"
#include "robot_from_simulator.h"
#include "robot_simulated.h"
#include "robot_to_simulator.h"

#define PERIOD 0.005
#define LAG 0.05

static wb_ring *rings[4];
static int ring_count;

static int open_channel(const char *name, const wb_layout *layout, wb_reader **reader, wb_writer **writer)
{
    char path[WB_PATH_MAX];
    wb_ring *ring = NULL;
    int status = wb_path(name, path);
    if (status == 0)
        status = wb_open(&ring, path, layout, 64, 16);
    if (status == 0 && reader)
        status = wb_reader_open(reader, ring);
    if (status == 0 && writer)
        status = wb_writer_open(writer, ring);
    rings[ring_count++] = ring;
    return status;
}

/* Whether all channels are where they were. */
static int look(void)
{
    int status = 0;
    for (int i = 0; i < ring_count && status == 0; i++)
        status = wb_look(rings[i]);
    return status;
}

int main(void)
{
    wb_reader *commands, *answers, *before;
    wb_writer *states, *beats;
    static robot_simulated state;
    static robot_commanded command;
    static robot_to_simulator answer;
    static robot_from_simulator beat;
    int64_t sequence;

    int status = open_channel("robot.commanded", &robot_commanded_layout, &commands, NULL);
    if (status == 0)
        status = open_channel("robot.to_simulator", &robot_to_simulator_layout, &answers, NULL);
    if (status == 0)
        status = open_channel("robot.simulated", &robot_simulated_layout, NULL, &states);
    if (status == 0)
        status = open_channel("robot.from_simulator", &robot_from_simulator_layout, &before, &beats);

    if (status == 0)
        status = wb_latest(before, &beat); /* go on where another simulator was */
    beat.number++, beat.time = 0, beat.period = PERIOD;
    for (int joint = 0; joint < robot_simulated_joints_count; joint++) {
        state.measured[joint] = 1;        /* the position */
        state.status[joint] = 1 | 2 | 4;  /* driver on, control on, homed */
    }
    while (status >= 0) {
        if ((sequence = wb_put(states, &state)) < 0 || (sequence = wb_put(beats, &beat)) < 0)
            status = (int)sequence;
        while (status >= 0 && answer.number != beat.number) /* the daemon has not commanded this period yet */
            if ((status = wb_wait(&answers, 1, wb_now() + 1000000000, 0)) == 1)
                status = wb_latest(answers, &answer);
            else if (status == 0)
                status = look();
        if (status >= 0)
            status = wb_latest(commands, &command);
        for (int joint = 0; joint < robot_simulated_joints_count; joint++) {
            if (command.mask[joint])
                state.reference[joint] = command.position[joint];
            state.position[joint] += (state.reference[joint] - state.position[joint]) * PERIOD / LAG;
        }
        beat.number++;
        beat.time += PERIOD;
        state.time = beat.time, state.tick = beat.number;
    }
    fprintf(stderr, "simulator: %s\n", wb_explain(status));
    return 1;
}
