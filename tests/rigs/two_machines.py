"""Two machines on one: each has shared memory of its own, and a TCP link between their bridges is all they share."""

import os
import subprocess

import numpy as np
from robot_processes import MAIN, wait_for

from wholebody.channels import Channel

STATE = np.dtype([("count", "<i8"), ("position", "<f8", (100,))], metadata={"joints": ("RHY", "RHR")})
OTHER = np.dtype([("count", "<i8"), ("effort", "<f4", (3,))])


class Machine:
    """A folder for channels, and the processes started with it; `said` has what the last one put on stderr."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.processes = []

    def channel(self, name, dtype=None, **options):
        before, os.environ["WHOLEBODY_CHANNELS"] = os.environ["WHOLEBODY_CHANNELS"], str(self.folder)
        try:
            return Channel(name, dtype, **options)
        finally:
            os.environ["WHOLEBODY_CHANNELS"] = before

    def run(self, *command):
        environment = {**os.environ, "WHOLEBODY_CHANNELS": str(self.folder), "PYTHONUNBUFFERED": "1"}
        self.said = self.folder / f".said{len(self.processes)}"
        with self.said.open("w") as errors:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors, text=True)
        self.processes.append(process)
        return process

    def bridge(self, *arguments):
        return self.run(*MAIN, "bridge", *map(str, arguments))

    def has(self, name):
        return (self.folder / name).exists()

    def stop(self):
        for process in self.processes:
            process.kill()
            process.communicate()


def reader_of(machine, name):
    wait_for(lambda: machine.has(name))
    return machine.channel(name).reader()


def put(writer, count):
    writer.message["count"] = count
    if "position" in writer.message.dtype.names:
        writer.message["position"][:] = count
    writer.put()


def newest(reader):
    reader.latest()
    return int(reader.message["count"])


def keep_putting_until(writer, condition, seconds=20):
    """Put 1, 2, 3 … until the condition holds; return the last number put."""
    count = int(writer.message["count"])

    def put_one():
        nonlocal count
        count += 1
        put(writer, count)
        return condition()

    wait_for(put_one, seconds)
    return count


def state_of(bridge, name):
    return next(one for one in bridge.status() if one.name == name)
