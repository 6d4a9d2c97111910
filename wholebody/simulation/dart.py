"""DartPhysics: the same robot moved by another engine, DART, behind the same Simulation.

DART computes how the robot moves and what the ground does to it. After each control period its state is copied into
the world that MuJoCo compiled, which serves as a drawing of it: frames, cameras and IMUs are read there, and no step of
MuJoCo's is ever taken.

What DART does not know is left out: rotor inertia, and anything but flat ground; a joint that follows another is
fixed where the posture at the start has it. Links of the robot do not collide with each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from wholebody.errors import BadSimulation, MissingExtra, SimulationDiverged
from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.robot import Array, Joint, Placement, Robot
from wholebody.simulation.contacts import Pushes, Touch
from wholebody.simulation.engines import Engine
from wholebody.simulation.ground import pose, set_base, set_joints
from wholebody.simulation.sensors import move_wrench
from wholebody.simulation.servo import Servo
from wholebody.simulation.world import World

GROUND = 40.0
"""m. The length of a side of the ground."""
_SENSING = (
    *(mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight, mujoco.mj_comVel),
    *(mujoco.mj_sensorPos, mujoco.mj_sensorVel, mujoco.mj_rnePostConstraint, mujoco.mj_sensorAcc),
)


class DartPhysics(Engine):
    """A world that moves by itself, as Physics does.

    Forces are those of the last physics step, accelerations the mean of a period.
    """

    def __init__(self, world: World, steps: int) -> None:
        _refuse_what_dart_does_not_know(world)
        super().__init__(world)
        self.step = 0
        self._steps = steps
        self._dart = _dart()
        self._ground = str(world.model.geom(_around(world)[0]).name)
        self._velocity = self._velocity_before = np.zeros(world.model.nv)

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        super().start(positions, base_to_world)
        mujoco.mj_kinematics(self.world.model, self.world.data)
        self._build(positions)
        self.step = 0
        self._velocity = self._velocity_before = np.zeros(self.world.model.nv)
        self._draw()

    def _build(self, positions: Array) -> None:
        """The robot and the ground as DART has them, the robot where the drawing is."""
        dart, world = self._dart, self.world
        robot = _without_followers(world.robot, positions)
        self._robot = dart.utils.DartLoader().parseSkeletonString(write_urdf(robot), "")
        self._robot.disableSelfCollisionCheck()
        self._dofs = [self._robot.getDof(name) for name in world.robot.joint_names]
        self._index = np.array([dof.getIndexInSkeleton() for dof in self._dofs])
        self._stiffness, self._damping, self._aim, self._most, self._effort = np.zeros((5, self._robot.getNumDofs()))
        self._most[self._index] = [joint.effort for joint in world.robot.moving]
        for name in world.robot.joint_names:
            self._robot.getJoint(name).setLimitEnforcement(True)
        self._world = dart.simulation.World()
        self._world.setTimeStep(float(world.model.opt.timestep))
        self._world.setGravity(np.array([0.0, 0.0, -9.81]))
        self._world.addSkeleton(_ground(dart))
        self._world.addSkeleton(self._robot)
        root = self._robot.getRootJoint()
        if world.robot.floating:
            frame, at = pose(world, world.at.root), dart.math.Isometry3()
            at.set_rotation(frame[:3, :3])
            at.set_translation(frame[:3, 3])
            root.setRelativeTransform(at)
        for dof, position in zip(self._dofs, positions, strict=True):
            dof.setPosition(float(position))

    def settle_sensors(self, servo: Servo) -> None:
        """Compute what sensors measure with the servo in force: take a step, and take it back."""
        self._take(servo)
        positions, velocities = self._robot.getPositions(), self._robot.getVelocities()
        self._velocity_before = self._velocity
        self._step()
        self._robot.setPositions(positions)
        self._robot.setVelocities(velocities)
        self._velocity = self._velocity_before
        self._draw()

    def replace(self, world: World) -> None:
        """Refuse to go on in another world: nothing can be carried here."""
        raise BadSimulation("DART's robot carries nothing here; take engine='mujoco' for loads")

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        self._take(servo)
        self._velocity_before = self._velocity
        if self.peaks is not None:
            self.peaks[:] = 0.0
        for number in range(self._steps):
            if not pushes.none:
                self._push(pushes, self.step + number)
            self._step()
            if self.peaks is not None:
                np.maximum(self.peaks, self._vertical_forces(), out=self.peaks)
        self.step += self._steps
        self._draw()

    # How it moves.

    def _take(self, servo: Servo) -> None:
        """Take what the servo has in force, τ = aim − kp q − kd q̇."""
        model, data, at = self.world.model, self.world.data, self.world.at
        servo.apply(model, data, at)
        joints = self._index[at.actuated]
        self._aim[joints] = data.ctrl[at.motor]
        self._stiffness[joints] = -model.actuator_biasprm[at.motor, 1]
        self._damping[joints] = -model.actuator_biasprm[at.motor, 2]

    def _step(self) -> None:
        self._effort = self._stable_effort()
        self._robot.setForces(self._effort)
        self._world.step()
        self._velocity = self._velocity_as_drawn()
        if not np.isfinite(self._velocity).all():
            raise SimulationDiverged(
                f"DART's simulation became unstable at {self._world.getTime():.3f} s; "
                "give a smaller step, softer gains or a smaller effort"
            )

    def _stable_effort(self) -> Array:
        """The servo's effort as it will be at the end of a step of length h, so that stiff gains stay stable.

        τ = aim − kp (q + h q̇) − kd (q̇ + h q̈),   (M + h kd) q̈ = aim − kp (q + h q̇) − kd q̇ − c + Jᵀf

        with the ground's forces f of the step before.
        """
        robot, h = self._robot, self._world.getTimeStep()
        q, v = robot.getPositions(), robot.getVelocities()
        now = self._aim - self._stiffness * (q + h * v) - self._damping * v
        rest = robot.getConstraintForces() - robot.getCoriolisAndGravityForces()
        acceleration = np.linalg.solve(robot.getMassMatrix() + np.diag(h * self._damping), now + rest)
        effort: Array = np.clip(now - h * self._damping * acceleration, -self._most, self._most)
        return effort

    def _push(self, pushes: Pushes, step: int) -> None:
        data = self.world.data
        pushes.apply(step, data)
        for name, body in self.world.at.link.items():
            if data.xfrc_applied[body].any():
                pushed = self._robot.getBodyNode(name)
                pushed.addExtForce(data.xfrc_applied[body, :3], pushed.getLocalCOM())
                pushed.addExtTorque(data.xfrc_applied[body, 3:], False)

    # What it looks like.

    def _velocity_as_drawn(self) -> Array:
        """MuJoCo's velocity: of the base linear in the world's axes and angular in its own, then of the joints."""
        at, root = self.world.at, self._robot.getRootBodyNode()
        velocity = np.zeros(self.world.model.nv)
        velocity[at.velocity] = self._robot.getVelocities()[self._index]
        if at.base_velocity is not None:
            start = at.base_velocity
            velocity[start : start + 3] = root.getLinearVelocity()
            velocity[start + 3 : start + 6] = root.getTransform().rotation().T @ root.getAngularVelocity()
        return velocity

    def _draw(self) -> None:
        """Copy the state into MuJoCo's data, and compute what sensors and cameras see of it."""
        world, root = self.world, self._robot.getRootBodyNode().getTransform()
        model, data, at = world.model, world.data, world.at
        set_joints(world, self._robot.getPositions()[self._index])
        set_base(world, root.translation(), root.rotation())
        data.qvel[:] = self._velocity
        data.qacc[:] = (self._velocity - self._velocity_before) / (self._steps * model.opt.timestep)
        for stage in _SENSING:
            stage(model, data)
        data.qfrc_actuator[at.velocity] = self._effort[self._index]
        self._feel()

    def _feel(self) -> None:
        """What the ground does to all that is beyond each force-torque sensor."""
        sensors = self.world.at.force_sensors
        self._wrenches[:] = 0.0
        moved = np.zeros(6)
        for touch in self.touches():
            body, wrench = self.world.at.link[touch.link], np.array([0.0, 0.0, 0.0, *touch.force_in_world])
            for number, site in enumerate(sensors.sites):
                if sensors.beyond[number, body]:
                    move_wrench(self.world.data, wrench, touch.point_in_world, site, moved)
                    self._wrenches[number] += moved

    def _vertical_forces(self) -> Array:
        """What the ground pushes up with on all that is beyond each force-torque sensor, N."""
        sensors = self.world.at.force_sensors
        forces = np.zeros(len(sensors))
        for touch in self.touches():
            forces += sensors.beyond[:, self.world.at.link[touch.link]] * touch.force_in_world[2]
        return forces

    def touches(self) -> list[Touch]:
        found = []
        for contact in self._world.getLastCollisionResult().getContacts():
            sides = ((contact.collisionObject1, 1.0), (contact.collisionObject2, -1.0))
            for each, sign in sides:
                body = each.getShapeFrame().asShapeNode().getBodyNodePtr().getName()
                if body in self.world.at.link:
                    found.append(Touch(body, self._ground, np.array(contact.point), sign * np.array(contact.force)))
        return found


def _dart() -> Any:
    try:
        import dartpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingExtra("dartpy", "dart") from error
    return dartpy


def _refuse_what_dart_does_not_know(world: World) -> None:
    kinds = [int(world.model.geom_type[geom]) for geom in _around(world)]
    if kinds != [int(mujoco.mjtGeom.mjGEOM_PLANE)] or not np.array_equal(world.ground_to_world, np.eye(4)):
        raise BadSimulation("DART's world has flat ground only; take scene='flat', or engine='mujoco'")
    if len(world.at.flexions) or world.robot.couplings:
        raise BadSimulation("flexible ankles and coupled joints are MuJoCo's only; take engine='mujoco'")


def _around(world: World) -> list[int]:
    """The geoms of the scene."""
    return [geom for geom in range(world.model.ngeom) if int(world.model.geom_bodyid[geom]) == 0]


def _without_followers(robot: Robot, positions: Array) -> Robot:
    """The robot with every joint that follows another fixed where that one is now."""

    def fixed(joint: Joint) -> Joint:
        if joint.mimic is None:
            return joint
        angle = joint.mimic.ratio * float(positions[robot.index[joint.mimic.of]]) + joint.mimic.offset
        at = Placement.of(joint.at.matrix @ joint.motion(angle))
        return Joint(joint.name, "fixed", joint.parent, joint.child, at)

    return replace(robot, joints=tuple(fixed(joint) for joint in robot.joints))


def _ground(dart: Any) -> Any:
    ground = dart.dynamics.Skeleton("the ground")
    _, body = ground.createWeldJointAndBodyNodePair()
    shape = body.createShapeNode(dart.dynamics.BoxShape(np.array([GROUND, GROUND, 1.0])))
    shape.createCollisionAspect()
    shape.createDynamicsAspect()
    below = dart.math.Isometry3()
    below.set_translation(np.array([0.0, 0.0, -0.5]))
    shape.setRelativeTransform(below)
    return ground
