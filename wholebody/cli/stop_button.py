"""wholebody stop-button: keys and gamepads that stop a robot at once, whatever moves it."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from typing import Annotated

import typer

from wholebody.cli import options
from wholebody.drivers.names import default_name
from wholebody.errors import BadParameter
from wholebody.operator.stop_button import Gamepad, Keys, Quit, StopButtons, resume
from wholebody.processes.registry import DAEMON, nothing_runs, process_of
from wholebody.realtime import until_told


def stop_button(
    name: options.Name = "",
    keys: Annotated[bool, typer.Option(help="Keys of this terminal stop it, but r (resume) and q (quit).")] = True,
    gamepad: Annotated[
        list[str] | None, typer.Option(metavar="DEVICE", help="A gamepad, such as /dev/input/js0; may be repeated.")
    ] = None,
    button: Annotated[int | None, typer.Option(min=0, help="Which button of gamepads; any, if not given.")] = None,
    within: Annotated[
        float, typer.Option(min=0.05, max=10.0, help="Seconds after which a button that is silent counts as lost.")
    ] = 1.0,
    on_loss: Annotated[str, typer.Option(metavar="stop|tell", help="What the loss of a button leads to.")] = "stop",
) -> None:
    """Stop the robot when a key or a button of a gamepad is pressed; it holds every joint until it is resumed.

    A button that is unplugged, or whose process dies, stops the robot, too, unless --on-loss tell.
    This is no emergency stop in the sense of a machine standard: wire one.

    \b
      wholebody stop-button
      wholebody stop-button --no-keys --gamepad /dev/input/js0 --button 1
    """
    if on_loss not in ("stop", "tell"):
        raise BadParameter(f"--on-loss {on_loss}; give stop or tell")
    robot, say, goes_on = name or default_name(), partial(print, flush=True), until_told()
    with contextlib.ExitStack() as stack:
        found: list[Gamepad | Keys] = []
        for each in gamepad or ():
            found.append(pad := Gamepad(each, button))
            stack.callback(pad.close)
        if keys:
            found.append(terminal := Keys(sys.stdin.fileno(), partial(resume, robot, say)))
            stack.enter_context(terminal.at_once())
        if not found:
            raise BadParameter("there is nothing to press; leave out --no-keys, or give a --gamepad")
        if process_of(DAEMON, robot) is None:
            say(f"{nothing_runs(robot)}; the button waits for it")
        help_ = "any key: stop   r: resume   q: quit" if keys else "Ctrl-C ends it"
        say(f"'{robot}' is stopped by: {', '.join(each.name for each in found)}   ({help_})")
        with contextlib.suppress(Quit):
            StopButtons(robot, found, say, within, on_loss == "tell").run(goes_on)
