/* A controller in C: reads the robot's state, writes references, shares both channels with Python.
 *
 *   wholebody channels header demo.state -o demo_state.h
 *   wholebody channels header demo.c.reference -o demo_c_reference.h
 *   gcc -O2 -I. controller.c $(wholebody channels cflags) -o controller
 */
#include <stdio.h>
#include <string.h>

#include "demo_c_reference.h"
#include "demo_state.h"

static int open_channel(wb_ring **ring, const char *name, const wb_layout *layout)
{
    char path[WB_PATH_MAX];
    int status = wb_path(name, path);
    return status < 0 ? status : wb_open(ring, path, layout, 64, 16);
}

static int fail(int64_t status)
{
    fprintf(stderr, "controller: %s\n", wb_explain(status));
    return 1;
}

int main(void)
{
    wb_ring *states, *references;
    wb_reader *reader;
    wb_writer *writer;
    demo_state state;
    demo_c_reference reference;
    memset(&reference, 0, sizeof reference);

    int status = open_channel(&states, "demo.state", &demo_state_layout);
    if (status == 0)
        status = open_channel(&references, "demo.c.reference", &demo_c_reference_layout);
    if (status == 0)
        status = wb_reader_open(&reader, states);
    if (status == 0)
        status = wb_writer_open(&writer, references);
    if (status < 0)
        return fail(status);

    /* Follow: the reference of every joint is where it was measured, as long as states keep coming. */
    while (wb_wait(&reader, 1, wb_now() + 2000000000, 0) == 1 && wb_latest(reader, &state) == 1) {
        reference.time = state.time;
        for (int joint = 0; joint < demo_state_joints_count; joint++) {
            reference.position[joint] = state.position[joint];
            reference.mask[joint] = 1;
        }
        int64_t sequence = wb_put(writer, &reference);
        if (sequence < 0)
            return fail(sequence);
    }

    wb_writer_close(writer);
    wb_reader_close(reader);
    wb_close(references);
    wb_close(states);
    return 0;
}
