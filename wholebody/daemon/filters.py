"""Filters: how a joint's command θc is made of its reference θr (Hubo-Ach §3.5), every period, for all joints at once.

    PASS       θc = θr
    SMOOTH     θc = (θc⁻ (L − 1) + θr) / L         = θr + (1 − 1/L) (θc⁻ − θr)
    COMPLIANT  θc = θr + Kc θe,  θe = θa − θr      = θr + Kc (θa − θr)
    FEEDBACK   θc = (θa (L − 1) + θr) / L          = θr + (1 − 1/L) (θa − θr)

θc⁻ is the command of the last period. θa is the position that was read in the last period, because the daemon writes
before it reads. FEEDBACK(L) is COMPLIANT with Kc = 1 − 1/L. Under a load that moves a joint of stiffness k by τ/k,
COMPLIANT moves it by τ/k / (1 − Kc), and FEEDBACK by L τ/k.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.channels import Channel, Reader, Writer
from wholebody.drivers.interface import SteadyClock
from wholebody.drivers.names import Names
from wholebody.errors import BadReference
from wholebody.messages import Filter, Mode, Reference, State
from wholebody.messages.bounds import COMPLIANCE_GAIN, FILTER_LENGTH
from wholebody.realtime import until_told

Array = npt.NDArray[np.float64]

LENGTH = 40
"""L, unless another is given."""


class Filters:
    """The filters of a robot's joints; they pass until they are set."""

    def __init__(self, joints: int) -> None:
        self.mode = np.full(joints, Filter.PASS, np.uint8)
        self.length = np.full(joints, LENGTH, np.int64)  # L, in SMOOTH and FEEDBACK
        self.gain = np.zeros(joints)  # Kc, in COMPLIANT
        self.value = np.zeros(joints)  # of the two, the one in use
        self._share_before, self._share_measured = np.zeros(joints), np.zeros(joints)
        self._smooth, self._fed_back = np.zeros(joints, bool), np.zeros(joints, bool)
        self._any_smooth = self._any_fed_back = self.working = False  # working: whether any joint does not just pass
        self._part = np.zeros(joints)

    def set(self, joint: int, mode: Filter, value: float | None = None) -> None:
        """Set a joint's filter with its L or Kc; None leaves what was last given, or 40 and 0."""
        match mode:
            case Filter.SMOOTH | Filter.FEEDBACK:
                self.length[joint] = length = int(self.length[joint]) if value is None else _length(value)
                used, share = float(length), 1 - 1 / length
            case Filter.COMPLIANT:
                self.gain[joint] = used = share = float(self.gain[joint]) if value is None else _gain(value)
            case Filter.PASS:
                used = share = 0.0
        self.mode[joint], self.value[joint] = mode, used
        self._share_before[joint] = share if mode is Filter.SMOOTH else 0.0
        self._share_measured[joint] = 0.0 if mode is Filter.SMOOTH else share
        np.not_equal(self._share_before, 0, out=self._smooth)
        np.not_equal(self._share_measured, 0, out=self._fed_back)
        self._any_smooth, self._any_fed_back = bool(self._smooth.any()), bool(self._fed_back.any())
        self.working = self._any_smooth or self._any_fed_back

    def apply(self, reference: Array, command_before: Array, measured: Array, out: Array) -> None:
        """Write the commands of this period to `out`, which may be none of the others.

        A joint that does not need its last command, or its measured position, is not touched by what is wrong with it.
        """
        np.copyto(out, reference)
        if self._any_smooth:
            self._pull(out, reference, command_before, self._share_before, self._smooth)
        if self._any_fed_back:
            self._pull(out, reference, measured, self._share_measured, self._fed_back)

    def _pull(self, out: Array, reference: Array, towards: Array, share: Array, where: npt.NDArray[np.bool_]) -> None:
        """Add share · (towards − reference), for some joints."""
        np.subtract(towards, reference, out=self._part, where=where)
        np.multiply(self._part, share, out=self._part, where=where)
        np.add(out, self._part, out=out, where=where)


def _length(value: float) -> int:
    if complaint := FILTER_LENGTH.complaint(value):
        raise BadReference(f"{complaint}; 1 is no filter")
    return int(value)


def _gain(value: float) -> float:
    if complaint := COMPLIANCE_GAIN.complaint(value):
        raise BadReference(f"{complaint}; 0 is as stiff as the joint is")
    return float(value)


PERIOD = 0.01
"""s, the document's T₃"""
SILENT_AFTER = 3
"""declared periods without a word"""


def run(
    controller: str,
    robot: str = "",
    mode: Filter = Filter.SMOOTH,
    value: float | None = None,
    period: float = PERIOD,
    *,
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Filter a controller's references until SIGTERM or SIGINT (or as long as `goes_on` says so).

    All joints have the one filter. The robot's daemon must run, or have run: its state says which joints there are.
    """
    names, clock = Names(robot), SteadyClock(period)
    with Channel(names.state, kind=State) as states, states.reader() as state:
        layout = messages.reference(messages.labels(states.dtype))
        with (
            Channel(names.unfiltered(controller), layout) as raw,
            Channel(names.reference(controller), layout) as filtered,
            raw.reader() as wanted,
            filtered.writer() as writer,
        ):
            smoothing = Smoothing(state, wanted, writer, mode, value)
            going = goes_on or until_told()
            while going():
                clock.tick()
                smoothing.once()


class Smoothing:
    """Newest unfiltered reference in, filtered reference out."""

    def __init__(
        self,
        state: Reader[State],
        wanted: Reader[Reference],
        writer: Writer[Reference],
        mode: Filter,
        value: float | None = None,
    ) -> None:
        self._state, self._wanted, self._writer = state, wanted, writer
        joints = len(writer.message.position)
        self.filters = Filters(joints)
        for joint in range(joints):
            self.filters.set(joint, mode, value)
        self._spoken_for = np.zeros(joints, bool)
        self._before, self._command = np.zeros(joints), np.zeros(joints)
        self._since = time.monotonic_ns()

    def once(self) -> bool:
        """Put the reference of this period; False if there is nothing to say."""
        self._state.latest()
        self._wanted.latest()
        if not self._state.sequence or not self._wanted.sequence or self._wanted.stamp_ns < self._since:
            return False
        wanted = self._wanted.message
        declared = wanted.period
        if declared > 0 and self._wanted.age > SILENT_AFTER * declared:
            self._spoken_for[:] = False
            return False
        mask = wanted.mask
        np.copyto(self._before, self._state.message.reference, where=mask & ~self._spoken_for)
        np.copyto(self._spoken_for, mask)
        self.filters.apply(wanted.position, self._before, self._state.message.position, self._command)
        message = self._writer.message
        message.copy_from(wanted)
        np.copyto(message.position, self._command, where=message.mode == Mode.POSITION)
        message.time = self._state.message.time
        self._writer.put()
        np.copyto(self._before, self._command, where=np.isfinite(self._command))
        return True
