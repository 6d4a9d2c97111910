"""The daemon's memory is flat over a million cycles in lock step, whatever comes, goes and is asked meanwhile."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
from daemon_rig import Rig

from wholebody.drivers.stop_input import StopInput
from wholebody.messages import Filter, Verb

CYCLES, LOOKS = 1_000_000, 100


def resident():
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def slope(rows):
    """By how much memory grows in all cycles, in bytes: the slope of a line through the second half of the looks."""
    late = np.array(rows[len(rows) // 2 :], float)
    return float(np.polyfit(late[:, 0] / CYCLES, late[:, 1], 1)[0])


def cycles(rig, leak=None):
    """Run a million cycles; the memory at each look, after a controller, a console and a stop input have been busy."""
    rows = []
    with StopInput("", "button", within=10.0) as button:
        rig.put("mover", {"RSP": 0.0})
        for look in range(LOOKS):
            rig.put(f"visitor-{look % 5}", {"REB": 0.0}, period=0.05, lease=look % 2 == 0)
            button.beat()
            rig.ask(Verb.FILTER, "RSP", Filter.SMOOTH, 2.0 + look % 5)
            rig.ask(Verb.STOP)
            rig.ask(Verb.RESUME)
            for turn in range(CYCLES // LOOKS // 10):
                rig.put("mover", {"RSP": -0.02 * np.sin(0.01 * turn)})
                rig.go(10)
                if leak is not None:
                    leak.append(bytes(1000))
            rig.told()
            gc.collect()
            rows.append((look * CYCLES // LOOKS, resident()))
    return rows


@pytest.mark.slow
def test_memory_is_flat_over_a_million_cycles():
    with Rig() as rig:
        rows = cycles(rig)
    assert rig.cycle.number >= CYCLES
    print(f"{rows[0][1]} {rows[len(rows) // 2][1]} {rows[-1][1]} bytes, slope {slope(rows):.0f}")
    assert slope(rows) < 0.01 * rows[-1][1]


@pytest.mark.slow
def test_a_leak_of_a_hundred_bytes_a_cycle_would_be_seen():
    with Rig() as rig:
        rows = cycles(rig, leak=[])
    assert slope(rows) > 0.1 * rows[-1][1]
