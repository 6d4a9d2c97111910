"""After `wholebody warmup`, nothing compiles or is loaded in a loop."""

import json
import subprocess
import sys

import pytest

FIRST_SOLVE = """
import json, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem, QuadraticController
from wholebody.control.warmup import warmup
from wholebody.kinematics.collision import Collisions
from wholebody.model import Model
from wholebody.tasks import CenterOfMassTask, JointPositionTask


def ready():
    modules = [each for name, each in sys.modules.items() if name.startswith("wholebody")]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)}
    return sum(len(each.signatures) for each in found)


if sys.argv[1] == "warm":
    warmup()
model = Model(robots.load("hubo2plus"))
collisions = Collisions(model, margin=0.0)
com = CenterOfMassTask("com", model.at(model.posture("stand")).com_in_world + np.array([0.1, 0.0, 0.0]))
contacts = [FlatContact(f"{side}_foot", f"{side}_sole") for side in ("left", "right")]
problem = Problem([com, JointPositionTask("posture", goal=model.posture("stand")[7:])], contacts)
before = ready()
command = QuadraticController(model, collisions=collisions).solve(model.at(model.posture("stand")), problem)
print(json.dumps({"steps": command.steps, "new": ready() - before}))
"""


def first_solve(how):
    done = subprocess.run(
        [sys.executable, "-c", FIRST_SOLVE, how], capture_output=True, text=True, check=True, timeout=580
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(600)
def test_the_first_solve_after_warmup_finds_every_kernel_ready_and_without_it_does_not():
    warm = first_solve("warm")
    assert warm["steps"] > 0, "limits are reached, so that all kernels run"
    assert warm["new"] == 0
    assert first_solve("cold")["new"] > 0
