// Wave with the right arm for some seconds and take it down again, from wherever it is.
//
//   wholebody start        (or: wholebody start --driver mini, or --driver full)
//   wholebody channels header robot.state --as robot_state -o robot_state.h
//   wholebody channels header robot.commanded --as reference -o reference.h
//   g++ -std=c++17 -O2 -I. examples/wave.cpp $(wholebody channels cflags) -o wave
//   ./wave 6
//
// The same source moves every robot, compiled with its headers; the name of another one follows the seconds. A joint that
// the robot lacks is left out, with one warning (Mini-Hubo has no RWY).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <wholebody/channel.hpp>

#include "reference.h"
#include "robot_state.h"

static const unsigned ready = 3; // flags of a joint whose driver and controller are on: wholebody.messages.READY

struct Raised {
    const char *joint;
    double goal, swing;
    std::size_t index;
    double start;
};

static int wave(double seconds, const std::string &robot)
{
    using namespace std::chrono_literals;
    const double pi = std::acos(-1.0);
    wholebody::Channel<robot_state> states(robot + ".state");
    wholebody::Channel<reference> references(robot + ".wave.reference");
    auto state = states.reader();
    auto told = references.writer();

    std::vector<Raised> arm;
    for (Raised each : {Raised{"RSP", -0.8, 0.0, 0, 0.0}, {"RSR", -0.6, 0.25, 0, 0.0}, {"REB", -1.4, 0.0, 0, 0.0},
                        {"RWY", 0.4, 0.0, 0, 0.0}}) {
        if (auto index = wholebody::index_of(robot_state_joints_names, each.joint)) {
            each.index = *index;
            arm.push_back(each);
        } else {
            std::fprintf(stderr, "wave: this robot has no joint '%s', so references to it are left out\n", each.joint);
        }
    }
    auto move = [&](double up, double t) {
        for (const auto &each : arm) {
            const double goal = each.goal + each.swing * std::sin(2 * pi * t);
            told.message.position[each.index] = each.start + up * (goal - each.start);
            told.message.mask[each.index] = 1;
        }
        told.put();
    };

    state.latest();
    double begin = -1.0;
    while (state.wait(2s)) {
        told.message.time = state.message.time;
        if (begin < 0) {
            begin = state.message.time;
            for (auto &each : arm) {
                if ((state.message.status[each.index] & ready) != ready) {
                    std::fprintf(stderr, "wave: %s is off or not homed, so nothing moves; first: %s\n", each.joint,
                                 "wholebody console -c homeAll");
                    return 1;
                }
                each.start = state.message.position[each.index];
            }
        }
        const double t = state.message.time - begin;
        if (t >= seconds) {
            move(0.0, t);
            return 0;
        }
        const double share = std::min({1.0, 2 * t / seconds, 4 * (1 - t / seconds)});
        move(0.5 - 0.5 * std::cos(pi * share), t);
    }
    std::fprintf(stderr, "wave: no state for 2 s; does the robot run? see: wholebody status\n");
    return 1;
}

int main(int argc, char **argv)
{
    try {
        return wave(argc > 1 ? std::atof(argv[1]) : 6.0, argc > 2 ? argv[2] : "robot");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "wave: %s\n", error.what());
        return 1;
    }
}
