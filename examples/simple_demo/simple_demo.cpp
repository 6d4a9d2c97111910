// Read the left elbow and the left foot, and move two joints: Hubo-Ach's simple demo.
//
//   wholebody start --filter "smooth 20"
//   wholebody channels header robot.state --as robot_state -o robot_state.h
//   wholebody channels header robot.commanded --as reference -o reference.h
//   g++ -std=c++17 -O2 -I. examples/simple_demo/simple_demo.cpp $(wholebody channels cflags) -o simple_demo
#include <iostream>

#include <wholebody/channel.hpp>

#include "reference.h"
#include "robot_state.h"

int main()
{
    auto state = wholebody::Channel<robot_state>("robot.state").reader();
    auto wanted = wholebody::Channel<reference>("robot.simple.reference").writer();
    if (!state.wait(std::chrono::seconds(2)))
        return 1;
    std::cout << "Joint = " << state.message.position[robot_state_joints_LEB] << "\n"
              << "Mx = " << state.message.force_torque[robot_state_force_torques_left_foot].torque[0] << "\n";
    wanted.message.position[reference_joints_LEB] = -0.2;
    wanted.message.position[reference_joints_RSP] = 0.1;
    wanted.message.mask[reference_joints_LEB] = wanted.message.mask[reference_joints_RSP] = 1;
    wanted.put();
}
