"""ServoThread: the loop in a real-time thread of its own, while the rest of the process talks to people.

with ServoThread(servo) as thread:
    while thread.running:
        print(servo.staleness)
        time.sleep(0.1)
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Self

from wholebody.control.servo import Servo
from wholebody.errors import BadProblem, RealtimeWarning


class ServoThread:
    """Runs a servo until told to end, first in, first out before everything else on its core, where that is permitted.

    Threads of Python share one lock: whatever else runs in this process can make a beat late by some milliseconds, so
    leave it little to do, or give the servo a process of its own. What goes wrong in the loop stops the robot, and is
    raised on leaving the `with` block.

    granted   whether the thread was given its priority; None before it begins
    """

    def __init__(self, servo: Servo, priority: int = 50) -> None:
        lowest, highest = os.sched_get_priority_min(os.SCHED_FIFO), os.sched_get_priority_max(os.SCHED_FIFO)
        if not lowest <= priority <= highest:
            raise BadProblem(f"a real-time priority is {lowest} to {highest}, not {priority}")
        self.servo, self.priority = servo, priority
        self.granted: bool | None = None
        self.error: BaseException | None = None
        self._told_to_end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"servo of {servo.model.robot.name}", daemon=True)

    @property
    def running(self) -> bool:
        """Whether the loop goes on."""
        return self._thread.is_alive()

    def end(self) -> None:
        """Let the loop finish its cycle and end, with the robot stopped; raise what went wrong in it."""
        self._told_to_end.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            with self.servo.updating():  # beside the loop, with the priority of everybody else
                self.servo.start()  # what has to be made ready is made ready with that, too
                self.granted = self._take_priority()
                while not self._told_to_end.is_set():
                    self.servo.cycle()
        except BaseException as error:
            self.error = error
        finally:
            self.servo.robot.stop()

    def _take_priority(self) -> bool:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self.priority))  # 0 is the calling thread
        except PermissionError:
            return False
        return True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; say once if the thread was given no priority."""
        if self.granted is False:
            warnings.warn(
                "the servo's thread was given no real-time priority; see wholebody.realtime.realtime",
                RealtimeWarning,
                stacklevel=2,
            )
        self.end()
