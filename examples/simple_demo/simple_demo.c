/* Read the left elbow and the left foot, and move two joints: Hubo-Ach's simple demo.
 *
 *   wholebody start --filter "smooth 20"
 *   wholebody channels header robot.state --as robot_state -o robot_state.h
 *   wholebody channels header robot.commanded --as reference -o reference.h
 *   gcc -O2 -I. examples/simple_demo/simple_demo.c $(wholebody channels cflags) -o simple_demo
 */
#include <stdio.h>

#include "reference.h"
#include "robot_state.h"

static robot_state state;
static reference wanted;

int main(void)
{
    char path[WB_PATH_MAX];
    wb_ring *states, *references;
    wb_reader *reader;
    wb_writer *writer;
    int status = wb_path("robot.state", path);
    status = status ? status : wb_open(&states, path, &robot_state_layout, 64, 16);
    status = status ? status : wb_path("robot.simple.reference", path);
    status = status ? status : wb_open(&references, path, &reference_layout, 64, 16);
    status = status ? status : wb_reader_open(&reader, states);
    status = status ? status : wb_writer_open(&writer, references);
    if (status || wb_latest(reader, &state) != 1)
        return fprintf(stderr, "no state: %s\n", wb_explain(status)), 1;
    printf("Joint = %f\n", state.position[robot_state_joints_LEB]);
    printf("Mx = %f\n", state.force_torque[robot_state_force_torques_left_foot].torque[0]);
    wanted.position[reference_joints_LEB] = -0.2;
    wanted.position[reference_joints_RSP] = 0.1;
    wanted.mask[reference_joints_LEB] = wanted.mask[reference_joints_RSP] = 1;
    return wb_put(writer, &wanted) < 0;
}
