"""State machines: transitions on events and time-outs, machines inside states, a channel and a picture."""

import pytest

from wholebody import messages
from wholebody.behaviors.state_machine import Published, State, StateMachine, announce, draw, picture
from wholebody.channels import Channel
from wholebody.errors import BadStateMachine, UnknownName
from wholebody.operator.robot.page_view import StateMachines


class Script:
    """Events in their order; None is a time-out. What was waited for is noted."""

    def __init__(self, *events):
        self.events, self.asked = list(events), []

    def __call__(self, events, timeout):
        self.asked.append((tuple(events), timeout))
        return self.events.pop(0)


def grab(done=None):
    done = [] if done is None else done
    return StateMachine(
        "grab",
        [
            State("reach", lambda: done.append("reach"), {"arrived": "close", "lost": "failed"}, 8.0, "failed"),
            State("close", lambda: done.append("close"), timeout=1.0, late="done"),
            State("done"),
            State("failed"),
        ],
    )


@pytest.mark.parametrize(
    ("events", "outcome", "entered"),
    [
        (["arrived", None], "done", ["reach", "close"]),
        (["lost"], "failed", ["reach"]),
        ([None], "failed", ["reach"]),
    ],
)
def test_events_and_time_outs_lead_to_the_states_they_name(events, outcome, entered):
    done = []
    script = Script(*events)
    assert grab(done).run(script) == outcome
    assert done == entered
    assert script.asked[0] == (("arrived", "lost"), 8.0)


def test_a_machine_inside_a_state_ends_it_with_its_own_end():
    whole = StateMachine(
        "work",
        [
            State("pick", inside=grab(), on={"done": "place", "failed": "pick again"}),
            State("pick again", inside=grab(), on={"done": "place", "failed": "give up"}),
            State("place", on={"placed": "home"}),
            State("home"),
            State("give up"),
        ],
    )
    paths = []
    assert (
        whole.run(Script(None, "arrived", None, "placed"), [lambda machine, change: paths.append(change.after)])
        == "home"
    )
    first = ["pick", "pick/reach", "pick/failed"]
    second = ["pick again", "pick again/reach", "pick again/close", "pick again/done"]
    assert paths == [*first, *second, "place", "home"]
    assert whole.path == "", "it is over"


@pytest.mark.parametrize(
    ("states", "error", "says"),
    [
        ([], BadStateMachine, "no states"),
        ([State("a"), State("a")], BadStateMachine, "two states"),
        ([State("reach", on={"x": "clos"}), State("close")], UnknownName, "closest: 'close'"),
        ([State("a", timeout=1.0)], BadStateMachine, "belong together"),
        ([State("a", timeout=-1.0, late="a")], BadStateMachine, "above 0"),
        ([State("a", inside=grab(), on={"done": "b"}), State("b")], BadStateMachine, "each end of 'grab'"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(states, error, says):
    with pytest.raises(error, match=says):
        StateMachine("bad", states)


def test_an_error_in_a_state_comes_out():
    def panics():
        raise RuntimeError("at a loss")

    with pytest.raises(RuntimeError, match="at a loss"):
        StateMachine("bad", [State("a", panics)]).run(Script())


def test_a_machine_is_published_with_its_states_and_ways_while_it_runs():
    shown, seen = StateMachines("robot"), []
    whole = StateMachine("work", [State("pick", inside=grab(), on={"done": "end", "failed": "end"}), State("end")])
    with Published("work") as published:
        whole.run(Script("arrived", None), [published, lambda *_: seen.append(shown.newest())])
    work, inside = seen[1]
    assert (work["name"], work["current"], inside["name"], inside["current"]) == ("work", "pick", "work/pick", "reach")
    assert inside["states"] == ["reach", "close", "done", "failed"]
    assert ["reach", "failed", "8 s"] in inside["transitions"]
    assert work["transitions"] == [["pick", "end", "done"], ["pick", "end", "failed"]]
    assert [each[0]["current"] for each in seen] == ["pick", "pick", "pick", "pick", "end"]
    assert shown.newest() == [], "nobody publishes it any more"


def test_a_machine_that_is_too_large_to_be_published_is_refused():
    large = StateMachine("large", [State(f"a state with a long name {number}") for number in range(1000)])
    with Published("large") as published, pytest.raises(BadStateMachine, match="too large"):
        large.run(Script(), [published])


def test_every_change_is_told_on_a_channel_and_drawn(tmp_path):
    file = tmp_path / "machine.png"
    seen = []
    with (
        Channel("application.states", messages.event()) as channel,
        channel.writer() as writer,
        channel.reader() as reader,
    ):
        watch = [announce(writer), picture(file), lambda machine, change: seen.append(file.read_bytes())]
        grab().run(Script("arrived", None), watch)
        told = []
        while reader.next():
            told.append((reader.message["name"].decode(), reader.message["text"].decode()))
    assert told == [
        ("reach", " → reach: start"),
        ("close", "reach → close: arrived"),
        ("done", "close → done: time-out"),
    ]
    assert all(each.startswith(b"\x89PNG") for each in seen)
    assert len(set(seen)) == 3, "the current state is marked"
    draw(StateMachine("outer", [State("pick", inside=grab())]), tmp_path / "nested.png")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["machine.png", "nested.png"]
