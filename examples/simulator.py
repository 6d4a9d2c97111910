"""A simulator of your own: each joint goes towards its command, a twentieth of a second behind.

    python examples/simulator.py hubo2plus &
    wholebody start hubo2plus                      # takes the simulator that is there, and goes on in its time

Put your physics where this one has its one line. The world stands still while no daemon answers; kill and start either
process whenever you like.
"""

import sys

import numpy as np

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.messages import Measured, Status

PERIOD, LAG = 0.005, 0.05

robot, names = robots.load(sys.argv[1] if len(sys.argv) > 1 else "hubo2plus"), Names()
triggers = Channel(names.from_simulator, messages.tick())
before, beats = triggers.reader(), triggers.writer()
answers = Channel(names.to_simulator, messages.tick()).reader()
commands = Channel(names.commanded, robot.reference_dtype()).reader()
states = Channel(names.simulated, robot.state_dtype()).writer()
state, beat = states.message, beats.message

state.measured[:], state.status[:] = Measured.POSITION, Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
before.latest()
beat.number, beat.period = before.message.number + 1, PERIOD  # go on where another simulator was
while True:
    states.put()
    beats.put()
    while answers.message.number != beat.number:  # the daemon has not commanded this period yet
        answers.wait()
    commands.latest()
    command = commands.message
    state.reference[:] = np.where(command.mask, command.position, state.reference)
    state.position += (state.reference - state.position) * PERIOD / LAG
    beat.number += 1
    beat.time += PERIOD
    state.time, state.tick = beat.time, beat.number
