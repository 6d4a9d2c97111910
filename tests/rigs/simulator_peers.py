"""For the tests of the handshake: simulators and daemons that can be killed at any moment, and one moved by hand.

The processes are forked from a server that has imported everything, so starting one takes a few hundredths of a second.
"""

import multiprocessing
import os
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.drivers.names import Names
from wholebody.drivers.simulator_link import SimulatorLink

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["simulator_peers", "wholebody.simulation"])
PATIENCE = 30.0
"""s, on the busiest machine"""
PERIOD = 0.005


@contextmanager
def process(work, *args):
    """A process that runs `work(*args)`, killed at the end whatever it does."""
    started = FORKED.Process(target=_in_folder, args=(os.environ["WHOLEBODY_CHANNELS"], work, args), daemon=True)
    started.start()
    try:
        yield started
    finally:
        started.kill()
        started.join()


def _in_folder(folder, work, args):
    os.environ["WHOLEBODY_CHANNELS"] = folder
    work(*args)


def simulator(robot, name="robot", physics=False, real_time=None, seed=0):
    """A joined simulation."""
    from wholebody.simulation import SensorModel, Simulation, join

    sensors = SensorModel.realistic() if seed else None
    join(Simulation(robots.load(robot), physics=physics, seed=seed, sensors=sensors), name, real_time)


def free_simulator(robot, name="robot"):
    """What no simulator may do: it goes on without an answer."""
    description = robots.load(robot)
    with (
        Channel(Names(name).from_simulator, messages.tick()).writer() as beats,
        Channel(Names(name).simulated, description.state_dtype()).writer() as states,
    ):
        beat = beats.message
        while True:
            states.put()
            beat["number"] += 1
            beat["time"], beat["period"] = beat["number"] * 0.005, 0.005
            beats.put()
            time.sleep(1e-4)


def daemon(robot, name="robot"):
    """A loop that does nothing but answer."""
    description = robots.load(robot)
    with SimulatorLink(description, name) as link:
        state, reference = new_records(description)
        while True:
            reference.time = link.tick()
            link.write(reference)
            link.read(state)


def new_records(description):
    """A state, and a reference for all joints."""
    state, reference = np.zeros(1, description.state_dtype())[0], np.zeros(1, description.reference_dtype())[0]
    reference.mask[:] = True
    return state, reference


def make_channels(description, name="robot", depth=16384):
    """Make the channels of the handshake, deep enough to look back at all that happened."""
    names = Names(name)
    layouts = {
        names.from_simulator: messages.tick(),
        names.to_simulator: messages.tick(),
        names.commanded: description.reference_dtype(),
        names.simulated: description.state_dtype(),
    }
    return [Channel(each, layout, depth=depth) for each, layout in layouts.items()]


def wait_until(condition):
    """Wait for something to happen."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(1e-3)


class ByHand:
    """A simulator whose every move the test makes."""

    def __init__(self, robot):
        self.channels = make_channels(robot)
        beats, answers, commands, states = self.channels
        self.beats, self.states = beats.writer(), states.writer()
        self.answers, self.commands = answers.reader(), commands.reader()
        self.number = int(newest(beats)["number"])

    def show(self, **state):
        for field, value in state.items():
            self.states.message[field] = value
        self.states.put()

    def beat(self, at=None, period=PERIOD):
        self.number += 1
        self.beats.message["number"], self.beats.message["period"] = self.number, period
        self.beats.message["time"] = self.number * PERIOD if at is None else at
        self.beats.put()

    @property
    def answer(self):
        self.answers.latest()
        return int(self.answers.message["number"])

    def close(self):
        self.beats.close()
        self.states.close()


def newest(channel):
    reader = channel.reader()
    reader.latest()
    return reader.message


def stamped(channel):
    """All messages of a channel, oldest first: when they were put, by whom, and a copy."""
    reader, found = channel.reader(), []
    while reader.next():
        assert reader.missed == 0, "the channel is too shallow for this test"
        found.append((reader.stamp_ns, reader.process, reader.message.copy()))
    return found


def assert_lock_step(beats, answers):
    """Each beat of a simulator comes after the answer to the one before it, with the next number and time."""
    answered = {}
    for stamp, _, answer in stamped(answers):
        answered.setdefault(int(answer["number"]), stamp)
    pairs = 0
    all_beats = stamped(beats)
    for (begin, sender, beat), (end, other, following) in pairwise(all_beats):
        assert following["number"] == beat["number"] + 1
        if sender == other:
            assert begin <= answered[int(beat["number"])] <= end
            assert following["time"] == pytest.approx(beat["time"] + PERIOD, abs=1e-9)
            pairs += 1
    return pairs
