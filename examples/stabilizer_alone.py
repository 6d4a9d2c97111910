"""A stabilizer alone, in a loop of one's own: what is planned and what is sensed in; what the legs are to do out.

python -m examples.stabilizer_alone dcm hubo2plus
python -m examples.stabilizer_alone none
"""

from __future__ import annotations

import sys

from wholebody import robots
from wholebody.estimation import BalanceEstimator
from wholebody.locomotion import Feet, Pattern, Place, gait_of, stabilizer_named
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.legs import Legs
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation


def main(which: str = "dcm", name: str = "hubo2plus", push: float = 4.9) -> bool:
    """Whether it still stands, two seconds after a push of 0.1 s by so many newtons for each kilogram.

    The loop below does no steps; `command.falling` would say that only a step helps, `command.landing` where to.
    """
    robot = robots.load(name)
    model = Model(robot, watch=SOLES)
    gait, legs = gait_of(model), Legs(model)
    aside = gait.limits.spacing / 2
    target = Pattern(gait, Feet(Place(0.0, aside, 0.0), Place(0.0, -aside, 0.0))).at(0.0)
    estimator, stabilizer = BalanceEstimator(model, feet=SOLES), stabilizer_named(which, model)
    stance = as_planned(target)
    legs.balance(stance.com, stance.rotation, stance.soles)
    with Simulation(robot, sensors=SensorModel.realistic(), posture=legs.joints.copy()) as world:
        state, reference = world.new_state(), world.new_reference()
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        world.push(robot.root, (push * robot.mass, 0.0, 0.0), 0.1, start=1.0)
        while world.time < 3.0:
            world.read(state)
            command = stabilizer.correct(target, estimator.update(state), world.period)  # every period
            legs.balance(command.com, command.rotation, command.soles)
            reference.position[:] = legs.joints
            world.write(reference)
            world.advance()
        stands = bool(world.base_to_world[2, 2] > 0.8)
    print(f"'{which}' {'stands' if stands else 'fell'}")
    return stands


if __name__ == "__main__":
    main(*sys.argv[1:3])
