"""FoxgloveBridge: a robot that runs, live in Foxglove; a controller as `wholebody ros` is, by the same parts.

with FoxgloveBridge(FoxgloveOptions(name="robot")) as bridge:
    bridge.run(until_told())
"""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wholebody.errors import WholebodyError
from wholebody.operator.foxglove.link import PORT, FoxgloveLink
from wholebody.operator.ros.bridge import Bridge
from wholebody.operator.ros.parameters import RosParameters
from wholebody.operator.ros.velocity import TIMEOUT
from wholebody.processes.registry import Role

ROLE = Role("foxglove", "", "the robot in Foxglove")
PATIENCE = 1.0
"""s that a controller may take to answer."""


@dataclass(frozen=True)
class FoxgloveOptions:
    """How a robot is in Foxglove: where, how often transforms come (Hz), and how long a velocity counts (s)."""

    name: str = ""
    robot: str = ""
    host: str = "127.0.0.1"
    port: int = PORT
    rate: float = 50.0
    timeout: float = TIMEOUT


class FoxgloveBridge(Bridge):
    """A robot's server for Foxglove; `say` is told what came in and was not done."""

    role = ROLE
    server: FoxgloveLink

    def __init__(self, options: FoxgloveOptions, say: Callable[[str], None] = lambda text: None) -> None:
        self._options = options
        super().__init__(options.name, options.robot, options.rate, options.timeout, say, simulated_time=False)

    def _open(self, name: str) -> FoxgloveLink:
        parameters = RosParameters(name)
        self._opened.callback(parameters.close)

        def give(path: str, value: Any) -> None:
            try:
                parameters.set(path, value).result(PATIENCE)
            except (WholebodyError, concurrent.futures.TimeoutError) as error:
                self._complain("parameters", str(error) or f"{path}: its controller does not answer")

        options = self._options
        self.server = FoxgloveLink(
            name,
            options.host,
            options.port,
            lambda text: self._complain("messages", text),
            (parameters.values, give),
        )
        return self._opened.enter_context(self.server)


def layout(robot: str) -> str:
    """A layout of Foxglove as a file: the robot in 3D, joints, diagnostics, parameters, and a pad to drive it."""
    view = "3D!robot"
    topics = {"/robot_description": {"visible": True}, "/markers": {"visible": True}}
    return json.dumps(
        {
            "configById": {
                view: {
                    "followTf": "odom",
                    "cameraState": {"distance": 4.0, "phi": 65.0, "thetaOffset": 45.0, "targetOffset": [0, 0, 0.5]},
                    "topics": topics,
                    "layers": {
                        "grid": {"layerId": "foxglove.Grid", "instanceId": "grid", "visible": True, "frameId": "odom"},
                        "robot": {
                            "layerId": "foxglove.Urdf",
                            "instanceId": "robot",
                            "label": robot,
                            "sourceType": "topic",
                            "topic": "/robot_description",
                            "visible": True,
                        },
                    },
                },
                "Plot!joints": {"paths": [{"value": "/joint_states.position[0]", "enabled": True}], "title": "joints"},
                "Parameters!all": {},
                "Teleop!walk": {"topic": "/cmd_vel", "publishRate": 5},
                "DiagnosticSummary!all": {"topicToRender": "/diagnostics"},
            },
            "globalVariables": {},
            "userNodes": {},
            "playbackConfig": {"speed": 1},
            "layout": {
                "first": view,
                "second": {
                    "first": {"first": "Plot!joints", "second": "DiagnosticSummary!all", "direction": "column"},
                    "second": {"first": "Parameters!all", "second": "Teleop!walk", "direction": "column"},
                    "direction": "column",
                },
                "direction": "row",
                "splitPercentage": 65,
            },
        },
        indent=1,
    )
