"""PlaCo solves the problems of wbc_peers: run by wbc_peers in an environment that has PlaCo, not wholebody.

python wbc_placo.py problem.json    prints {"versions": …, "accelerations": […]}, then {"us": […]} for every line
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import placo


def main(path):
    problem = json.loads(Path(path).read_text(encoding="utf-8"))
    robot = placo.RobotWrapper(problem["urdf"], placo.Flags.ignore_collisions)
    columns = [robot.get_joint_v_offset(name) for name in problem["joints"]]
    states = [configuration(robot, problem, columns, *each) for each in zip(problem["q"], problem["v"], strict=True)]
    robot.state.q, robot.state.qd = states[0]
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    add_tasks(solver, robot, problem)

    def cycle(q, v):
        robot.state.q, robot.state.qd = q, v
        robot.update_kinematics()
        return solver.solve()

    accelerations = []
    for q, v in states:
        result = cycle(q, v)
        assert result.success
        accelerations.append([*result.qdd[: 6 * problem["floating"]], *result.qdd[columns]])
    versions = {name: version(name) for name in ("placo", "pin")}
    print(json.dumps({"versions": versions, "accelerations": accelerations}), flush=True)
    for _ in sys.stdin:
        micros = []
        for q, v in states:
            start = time.perf_counter_ns()
            result = cycle(q, v)
            _ = result.tau
            micros.append((time.perf_counter_ns() - start) * 1e-3)
        print(json.dumps({"us": micros}), flush=True)


def configuration(robot, problem, columns, q, v):
    """Its base is always free; that of a bolted robot stays where it is."""
    placed, moving = np.array(robot.state.q), np.zeros(len(robot.state.qd))
    if problem["floating"]:
        placed[:7], moving[:6] = q[:7], v[:6]
    placed[[each + 1 for each in columns]] = q[len(q) - len(columns) :]
    moving[columns] = v[len(v) - len(columns) :]
    return placed, moving


def add_tasks(solver, robot, problem):
    weights, gain = problem["weights"], problem["stiffness"]

    def ask(task, name, weight):
        task.kp, task.kd = gain, 2 * np.sqrt(gain)
        task.configure(name, "soft", weight)

    for foot in problem["feet"]:
        task = solver.add_frame_task(foot["frame"], robot.get_T_world_frame(foot["frame"]))
        task.configure(foot["frame"], "hard", 1.0)
        for part in (task.position(), task.orientation()):
            part.kp = part.kd = 0.0
        contact = solver.add_planar_contact(task)
        corners = np.array(foot["corners"])
        contact.length, contact.width = (float(np.ptp(corners[:, axis])) for axis in (0, 1))
        contact.mu, contact.unilateral = problem["friction"], True
        contact.weight_forces = contact.weight_moments = 1e-6
    if not problem["floating"]:
        solver.mask_fbase(True)
    if "com" in problem:
        ask(solver.add_com_task(np.array(problem["com"])), "com", weights["com"])
    for hand in problem["hands"]:
        frame = hand["frame"]
        ask(solver.add_position_task(frame, np.array(hand["position"])), f"{frame}_place", weights["hands"])
        ask(solver.add_orientation_task(frame, np.array(hand["rotation"])), f"{frame}_turn", weights["hands"])
    posture = solver.add_joints_task()
    posture.set_joints(dict(zip(problem["joints"], problem["posture"], strict=True)))
    ask(posture, "posture", weights["posture"])
    for name, effort in zip(problem["joints"], problem["efforts"], strict=True):
        robot.set_torque_limit(name, effort)
    solver.enable_torque_limits(True)


if __name__ == "__main__":
    main(sys.argv[1])
