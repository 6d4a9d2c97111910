"""TSID solves the problems of wbc_peers: run by wbc_peers in an environment that has TSID and Pinocchio, not wholebody.

python wbc_tsid.py problem.json     prints {"versions": …, "accelerations": […]}, then {"us": […]} for every line
"""

import json
import sys
import time
from importlib.metadata import version

import numpy as np
import pinocchio as pin
from tsid import tsid_pywrap as tsid

MOTION, HARD = 1, 0  # levels: the QP's cost, and its constraints


def main(path):
    with open(path, encoding="utf-8") as file:
        problem = json.load(file)
    root = [pin.JointModelFreeFlyer()] if problem["floating"] else []
    robot = tsid.RobotWrapper(problem["urdf"], pin.StdVec_StdString(), *root, False)
    model = robot.model()
    columns = [model.joints[model.getJointId(name)].idx_v for name in problem["joints"]]
    states = [configuration(model, problem, columns, *each) for each in zip(problem["q"], problem["v"], strict=True)]
    formulation = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    formulation.computeProblemData(0.0, *states[0])
    kept = add_tasks(formulation, robot, problem, columns)  # TSID only remembers where they are
    solver = tsid.SolverHQuadProgFast("qp")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)

    def cycle(q, v):
        solution = solver.solve(formulation.computeProblemData(0.0, q, v))
        return solution, formulation.getActuatorForces(solution)

    accelerations = []
    for q, v in states:
        solution, _ = cycle(q, v)
        assert solution.status == 0, solution.status
        found = formulation.getAccelerations(solution)
        accelerations.append([*found[: 6 * problem["floating"]], *found[columns]])
    versions = {name: version(name) for name in ("tsid", "pin", "eiquadprog")}
    print(json.dumps({"versions": versions, "accelerations": accelerations}), flush=True)
    for _ in sys.stdin:
        micros = []
        for q, v in states:
            start = time.perf_counter_ns()
            cycle(q, v)
            micros.append((time.perf_counter_ns() - start) * 1e-3)
        print(json.dumps({"us": micros}), flush=True)
    assert kept


def configuration(model, problem, columns, q, v):
    base = 6 * problem["floating"]
    placed, moving = pin.neutral(model), np.zeros(model.nv)
    placed[: len(q) - len(columns)], moving[:base] = q[: len(q) - len(columns)], v[:base]
    placed[[each + bool(base) for each in columns]] = q[len(q) - len(columns) :]
    moving[columns] = v[base:]
    return placed, moving


def add_tasks(formulation, robot, problem, columns):
    kept = []
    weights, gain, base = problem["weights"], problem["stiffness"], 6 * problem["floating"]
    for foot in problem["feet"]:
        corners = np.array(foot["corners"]).T
        limits = problem["friction"], 0.0, 1e4
        contact = tsid.Contact6d(foot["frame"], robot, foot["frame"], corners, np.array([0.0, 0.0, 1.0]), *limits)
        contact.setKp(np.zeros(6))
        contact.setKd(np.zeros(6))
        contact.setReference(robot.framePosition(formulation.data(), robot.model().getFrameId(foot["frame"])))
        formulation.addRigidContact(contact, 1e-6)
        kept.append(contact)
    if "com" in problem:
        task = damped(tsid.TaskComEquality("com", robot), gain, 3)
        task.setReference(sample(problem["com"]))
        formulation.addMotionTask(task, weights["com"], MOTION, 0.0)
        kept.append(task)
    for hand in problem["hands"]:
        task = damped(tsid.TaskSE3Equality(hand["frame"], robot, hand["frame"]), gain, 6)
        task.useLocalFrame(False)
        task.setReference(sample([*hand["position"], *np.array(hand["rotation"]).T.ravel()], 6))
        formulation.addMotionTask(task, weights["hands"], MOTION, 0.0)
        kept.append(task)
    joints = len(columns)
    order = np.argsort(columns)
    posture = damped(tsid.TaskJointPosture("posture", robot), gain, joints)
    posture.setReference(sample(np.array(problem["posture"])[order]))
    formulation.addMotionTask(posture, weights["posture"], MOTION, 0.0)
    strongest = np.zeros(joints)
    strongest[np.array(columns) - base] = problem["efforts"]
    bounds = tsid.TaskActuationBounds("efforts", robot)
    bounds.setBounds(-strongest, strongest)
    formulation.addActuationTask(bounds, 1.0, HARD, 0.0)
    return [*kept, posture, bounds]


def damped(task, gain, size):
    task.setKp(gain * np.ones(size))
    task.setKd(2 * np.sqrt(gain) * np.ones(size))
    return task


def sample(values, rates=None):
    made = tsid.TrajectorySample(len(values), len(values) if rates is None else rates)
    made.value(np.array(values, float))
    return made


if __name__ == "__main__":
    main(sys.argv[1])
