"""A whole-body controller that runs, as nodes of ROS see it: its nine topics, eight services, parameters and goals."""

import json
import subprocess
import time

import numpy as np
import pytest
from robot_processes import MAIN, wait_for
from ros_peer import DOMAIN, Peer

from wholebody.operator.ros.controller_topics import KINDS, ControllerTopics
from wholebody.operator.ros.markers import MarkerArrays
from wholebody.operator.ros.services import SERVICES, Requests
from wholebody.operator.ros.task_goals import TaskGoals
from wholebody.parameters.remote import Remote, running
from wholebody.ros import interfaces as ros
from wholebody.ros.node import Node
from wholebody.ros.standard import Header, Point, Pose, PoseStamped, Time

pytestmark = pytest.mark.slow


class Robot:
    """The node of a robot whose controllers run, and somebody else's node."""

    def __init__(self):
        self.node, self.said = Node("robot", domain=DOMAIN), []
        self.requests, self.topics = Requests(self.node, "robot"), ControllerTopics(self.node, "robot")
        self.markers = MarkerArrays("robot", lambda name: name)
        self.goals = TaskGoals(
            self.node, self.requests.parameters, self.markers, lambda topic, text: self.said.append(text)
        )
        self.peer = Peer(self.beat)

    def beat(self):
        self.node.spin()
        self.requests.step()
        self.goals.step()
        self.topics.put(Time())
        time.sleep(0.002)

    def call(self, name, kind, request):
        return self.peer.call(self.peer.client(f"/robot/{name}", kind), request)


@pytest.fixture
def robot():
    with subprocess.Popen([*MAIN, "run", "dreamer_reach", "--json"], stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: running())
            found = Robot()
            found.peer.wait_for(lambda: found.requests.parameters.known)
            yield found
            found.peer.close()
            found.requests.close()
            found.node.close()
        finally:
            process.terminate()


def test_nodes_of_ros_steer_a_controller(robot):
    (_, name), *_ = running()
    prefix = f"{name}."
    names = robot.call("list_parameters", ros.LIST_PARAMETERS, ros.ListParametersRequest()).result.names
    goal = next(each for each in names if each.endswith("right_hand.goal"))
    assert goal.startswith(prefix)
    values = robot.call("get_parameters", ros.GET_PARAMETERS, ros.GetParametersRequest([goal, "no.such"])).values
    before = np.array(values[0].double_array_value)
    assert (len(before), values[1].type) == (3, 0)
    about = robot.call("describe_parameters", ros.DESCRIBE_PARAMETERS, ros.DescribeParametersRequest([goal]))
    assert "(m)" in about.descriptors[0].description

    wanted = before + np.array((0.0, 0.0, 0.02))
    new = ros.Parameter(goal, ros.ParameterValue(8, double_array_value=wanted))
    wrong = ros.Parameter(goal, ros.ParameterValue(8, double_array_value=[np.nan] * 3))
    unknown = ros.Parameter("no.such", ros.ParameterValue(3, double_value=1.0))
    answers = robot.call("set_parameters", ros.SET_PARAMETERS, ros.SetParametersRequest([new, wrong, unknown])).results
    assert [each.successful for each in answers] == [True, False, False]
    assert "no parameter 'no.such'" in answers[2].reason
    assert Remote().get(goal.removeprefix(prefix)) == pytest.approx(wanted)

    for each in SERVICES:
        answer = robot.call(f"get_{each}", ros.TRIGGER, ros.TriggerRequest())
        assert answer.success, answer.message
        assert json.loads(answer.message)

    heard = {each: robot.peer.listen(f"/{name}/{each}", kind.message) for each, kind in KINDS.items()}
    told = set(KINDS) - {"errors", "warnings"}  # which only come when something is wrong
    robot.peer.wait_for(lambda: all(heard[each] for each in told))
    assert len(heard["joint_state"][-1].position) == len(heard["joint_state"][-1].name) > 10
    assert heard["servo_frequency"][-1].data > 0

    robot.peer.wait_for(lambda: robot.goals._known)
    there = robot.peer.publisher(f"/goals/{name}/right_hand", PoseStamped)
    robot.peer.wait_for(lambda: there.readers)
    marker = next(
        each for _, message in robot.markers.messages() for each in message.markers if each.task == "right_hand"
    )
    place = marker.goal_position - np.array((0.0, 0.0, 0.02))
    there.put(PoseStamped(Header(frame_id="nowhere"), Pose(Point(*place))))
    robot.peer.wait_for(lambda: robot.said)
    assert "give it in 'odom'" in robot.said[0]
    there.put(PoseStamped(Header(frame_id="odom"), Pose(Point(*place))))
    robot.peer.wait_for(lambda: np.allclose(Remote().get(goal.removeprefix(prefix)), before, atol=1e-5))
