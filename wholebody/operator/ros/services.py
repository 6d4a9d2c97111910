"""What nodes of ROS ask: parameters of controllers, and the eight services of ControlIt! (Table C.1); nobody waits."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wholebody.errors import WholebodyError
from wholebody.operator.ros.parameters import NOT_SET, RosParameters, described, plain, typed
from wholebody.parameters.remote import Remote, running
from wholebody.ros import interfaces as ros
from wholebody.ros.node import Deferred, Node

SERVICES = (
    "actuable_joint_indices",
    "command_joint_indices",
    "real_joint_indices",
    "task_parameters",
    "constraint_parameters",
    "controller_parameters",
    "controller_configuration",
    "constraint_jacobians",
)
"""Of Table C.1: methods of Remote, all but the first three of which ask the controller."""
DEPTH_SEPARATOR = "."


@dataclass
class _Later:
    """An answer that somebody else makes."""

    future: Future[Any]
    give: Callable[[Future[Any]], None]


class Requests:
    """Services of a robot's node: parameters as `ros2 param` asks for them; Table C.1 as std_srvs/Trigger with JSON.

    Each answer of Table C.1 is that of the controller that runs; if several do, it has one for each, by its name.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self._node, self._robot = node, robot
        self.parameters = RosParameters(robot)
        self._asking = ThreadPoolExecutor(1, "table-c1")
        self._later: list[_Later] = []
        node.service("~/get_parameters", ros.GET_PARAMETERS, self._get)
        node.service("~/get_parameter_types", ros.GET_PARAMETER_TYPES, self._types)
        node.service("~/describe_parameters", ros.DESCRIBE_PARAMETERS, self._describe)
        node.service("~/list_parameters", ros.LIST_PARAMETERS, self._list)
        node.service("~/set_parameters", ros.SET_PARAMETERS, self._set)
        node.service("~/set_parameters_atomically", ros.SET_PARAMETERS_ATOMICALLY, self._set_together)
        for each in SERVICES:
            node.service(f"~/get_{each}", ros.TRIGGER, self._asker(each))

    def step(self) -> None:
        """Give the answers that have come."""
        done = [each for each in self._later if each.future.done()]
        self._later = [each for each in self._later if each not in done]
        for each in done:
            each.give(each.future)

    def close(self) -> None:
        """Ask no more."""
        self._asking.shutdown()
        self.parameters.close()

    def _get(self, request: ros.GetParametersRequest) -> ros.GetParametersResponse:
        values = self.parameters.values(request.names)
        return ros.GetParametersResponse([typed(values.get(name)) for name in request.names])

    def _types(self, request: ros.GetParameterTypesRequest) -> ros.GetParameterTypesResponse:
        values = self.parameters.values(request.names)
        return ros.GetParameterTypesResponse(bytes(typed(values.get(name)).type for name in request.names))

    def _describe(self, request: ros.DescribeParametersRequest) -> ros.DescribeParametersResponse:
        known = self.parameters.known
        found = [
            described(name, known[name].about) if name in known else ros.ParameterDescriptor(name, NOT_SET)
            for name in request.names
        ]
        return ros.DescribeParametersResponse(found)

    def _list(self, request: ros.ListParametersRequest) -> ros.ListParametersResponse:
        starts = tuple(f"{each}{DEPTH_SEPARATOR}" for each in request.prefixes)
        names = [
            name
            for name in self.parameters.known
            if (not starts or name.startswith(starts) or name in request.prefixes)
            and (not request.depth or name.count(DEPTH_SEPARATOR) < request.depth)
        ]
        prefixes = sorted({name.rpartition(DEPTH_SEPARATOR)[0] for name in names})
        return ros.ListParametersResponse(ros.ListParametersResult(names, prefixes))

    def _set(self, request: ros.SetParametersRequest) -> Deferred[ros.SetParametersResponse]:
        later = Deferred[ros.SetParametersResponse]()
        results: dict[int, ros.SetParametersResult] = {}
        count = len(request.parameters)

        def come(number: int, done: Future[Any]) -> None:
            results[number] = _result(done)
            if len(results) == count:
                later.give(ros.SetParametersResponse([results[each] for each in range(count)]))

        if not count:
            self._later.append(_Later(_done(None), lambda _: later.give(ros.SetParametersResponse())))
        for number, each in enumerate(request.parameters):
            future = self._setting(each)
            self._later.append(_Later(future, partial(come, number)))
        return later

    def _set_together(self, request: ros.SetParametersAtomicallyRequest) -> Any:
        """One is whole or not at all; several that are no controller's own could be half done, and are refused."""
        later = Deferred[ros.SetParametersAtomicallyResponse]()
        if len(request.parameters) != 1:
            text = f"{len(request.parameters)} parameters at once; one is set whole: set them one by one"
            return ros.SetParametersAtomicallyResponse(ros.SetParametersResult(False, text))
        future = self._setting(request.parameters[0])
        self._later.append(_Later(future, lambda done: later.give(ros.SetParametersAtomicallyResponse(_result(done)))))
        return later

    def _setting(self, parameter: ros.Parameter) -> Future[Any]:
        try:
            return self.parameters.set(parameter.name, plain(parameter.value))
        except WholebodyError as error:
            return _done(error)

    def _asker(self, what: str) -> Callable[[ros.TriggerRequest], Deferred[ros.TriggerResponse]]:
        def ask(request: ros.TriggerRequest) -> Deferred[ros.TriggerResponse]:
            later = Deferred[ros.TriggerResponse]()
            future = self._asking.submit(_told, self._robot, what)
            self._later.append(_Later(future, lambda done: later.give(_response(done))))
            return later

        return ask


def _done(error: Exception | None) -> Future[Any]:
    future: Future[Any] = Future()
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
    return future


def _result(done: Future[Any]) -> ros.SetParametersResult:
    error = done.exception()
    return ros.SetParametersResult(error is None, "" if error is None else str(error))


def _response(done: Future[Any]) -> ros.TriggerResponse:
    error = done.exception()
    return ros.TriggerResponse(False, str(error)) if error is not None else ros.TriggerResponse(True, done.result())


def _told(robot: str, what: str) -> str:
    """What the robot's controllers answer, as JSON: of the one that runs, or by controller."""
    found = {}
    for controller in sorted(name for of, name in running() if of == robot):
        with contextlib.suppress(WholebodyError), contextlib.closing(Remote(controller, robot)) as remote:
            found[controller] = getattr(remote, what)()  # a walking controller has no tasks, and the like
    if len(found) == 1:
        (only,) = found.values()
        return json.dumps(only, default=_as_json)
    return json.dumps(found, default=_as_json)


def _as_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
