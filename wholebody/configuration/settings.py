"""Settings: a configuration file as data, with the sections of ControlIt!'s Appendix D and its Tables B.1 and B.2."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

STATES = {"enable": "enabled", "disable": "disabled", "sense": "sensing"}
"""The words of the paper, and ours."""

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
State = Annotated[
    Literal["enabled", "disabled", "sensing"],
    BeforeValidator(lambda word: STATES.get(word, word) if isinstance(word, str) else word),
]
OnOff = Annotated[
    Literal["enabled", "disabled"],
    BeforeValidator(lambda word: STATES.get(word, word) if isinstance(word, str) else word),
]
Vector3 = Annotated[list[float], Field(min_length=3, max_length=3)]


class Strict(BaseModel):
    """Every key must be known."""

    model_config = ConfigDict(extra="forbid")


class Part(BaseModel):
    """Something with a type, by its name, and whatever else that type wants to know; the name alone will do."""

    model_config = ConfigDict(extra="allow")
    type: str

    @property
    def options(self) -> dict[str, Any]:
        """What is said besides the type."""
        return dict(self.model_extra or {})


def as_part(value: Any) -> Any:
    """A name is a part of that type."""
    return {"type": value} if isinstance(value, str) else value


AnyPart = Annotated[Part, BeforeValidator(as_part)]


class Named(BaseModel):
    """A task or constraint: its type says what else there is."""

    model_config = ConfigDict(extra="allow")
    name: str
    type: str


class CompoundEntry(Strict):
    """A task of the compound task."""

    name: str
    priority: Annotated[int, Field(ge=-1000, le=1000, description="higher numbers are more important")]
    operational_state: State = "enabled"


class ConstraintEntry(Strict):
    """A constraint of the constraint set."""

    name: str
    type: str | None = None
    operational_state: OnOff = "enabled"


def as_properties(value: Any) -> Any:
    """Properties, also as a list of single ones, as in the paper."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return {key: item for each in value for key, item in each.items()}
    return value


class BindingEntry(Strict):
    """A parameter bound to a topic."""

    parameter: str
    direction: Literal["input", "output"]
    topic: str
    transport_type: str = "channel"
    properties: Annotated[dict[str, Any], BeforeValidator(as_properties)] = {}


class GripperEntry(Strict):
    """Joints outside the controller that open and close together."""

    name: Word
    joints: Annotated[list[str], Field(min_length=1, description="joints, or groups of the robot")]
    open: Annotated[float | list[float], Field(description="rad, where each joint is when it is open")] = 0.0
    closed: Annotated[float | list[float], Field(description="rad, where each joint is when it is closed")]


class EventEntry(Strict):
    """A named condition."""

    name: Word
    expression: str


class Settings(Strict):
    """One controller."""

    name: Annotated[Word, Field(description="of the controller")] = "wbc"
    robot: Annotated[str, Field(description="a robot by name, or a URDF or MJCF file")]
    model: Annotated[str | None, Field(description="the robot as the controller sees it, if with fewer joints")] = None
    outside: Annotated[
        list[str], Field(description="joints or groups that the controller leaves alone: held where they are found")
    ] = []
    interface: Annotated[AnyPart, Field(description="how the robot is reached")] = Part(type="simulation")
    clock: Annotated[AnyPart | None, Field(description="what the loop beats with, if not the interface")] = None
    servo_frequency: Annotated[float, Field(gt=0, le=20000, description="Hz")] = 1000.0
    controller: Annotated[AnyPart, Field(description="what solves the problem")] = Part(type="wbosc")
    mode: Annotated[Literal["effort", "position", "impedance"], Field(description="what the joints follow")] = "effort"
    impedance: Annotated[dict[str, Any], Field(description="of joints that follow positions")] = {}
    transitions: Annotated[bool | dict[str, float], Field(description="whether changes take a time, s each")] = False
    model_every: Annotated[int, Field(ge=1, le=1000, description="cycles from one update of the model to the next")] = 1
    model_beside: Annotated[bool, Field(description="whether a thread beside the loop updates the model, too")] = False
    task_every: Annotated[int, Field(ge=1, le=1000, description="and of the tasks")] = 1
    max_staleness: Annotated[float, Field(gt=0, le=10, description="s")] = 0.05
    patience: Annotated[float, Field(ge=0, le=60, description="s for which faults are borne")] = 0.1
    enforce_effort_limits: Annotated[bool | list[bool] | None, Field(description="of all joints, or of each")] = None
    enforce_position_limits: Annotated[bool | list[bool] | None, Field(description="of all joints, or of each")] = None
    enforce_velocity_limits: Annotated[bool | list[bool] | None, Field(description="of all joints, or of each")] = None
    max_effort_command: Annotated[float | list[float] | None, Field(description="N·m")] = None
    world_gravity: Annotated[Vector3, Field(description="m/s², in world")] = [0.0, 0.0, -9.81]
    gravity_compensation_mask: Annotated[list[str], Field(description="joints that are not compensated")] = []
    coupled_joint_groups: Annotated[list[str | list[str]], Field(description="decoupled from each other")] = []
    log_level: Literal["DEBUG", "INFO", "WARN", "ERROR", "FATAL"] = "INFO"
    log_fields: list[Literal["package", "file", "line", "function", "pid"]] = []
    tasks: Annotated[list[Named], Field(min_length=1)]
    constraints: list[Named] = []
    compound_task: Annotated[list[CompoundEntry], Field(min_length=1)]
    constraint_set: list[ConstraintEntry] = []
    bindings: list[BindingEntry] = []
    events: list[EventEntry] = []
    grippers: list[GripperEntry] = []
    parameters: Annotated[dict[str, Any], Field(description="initial values by path")] = {}


SECTIONS: dict[str, type[BaseModel]] = {
    "compound_task": CompoundEntry,
    "constraint_set": ConstraintEntry,
    "bindings": BindingEntry,
    "events": EventEntry,
    "grippers": GripperEntry,
}
"""What the entries of a section are."""
