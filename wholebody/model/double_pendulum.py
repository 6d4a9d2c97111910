"""Double pendulums, hanging and inverted: two point masses on massless links; and the one that stands for a leg."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadRobot
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.two_link import TwoLink, pair

ABSOLUTE = np.array([[1.0, 0.0], [1.0, 1.0]])
"""A with (θ₁, θ₂)_absolute = A (θ₁, θ₂)_relative; so v_absolute = A v_relative, and τ_relative = Aᵀ τ_absolute."""
ABSOLUTE.flags.writeable = False


@dataclass(frozen=True)
class TwoMasses(ABC):
    """Two point masses in the x-z plane: m₁ on a link of length l₁, m₂ on one of length l₂ that is hinged to m₁.

        M(q) q̈ + C(q, q̇) q̇ + g(q) = τ

    Lengths in m, masses in kg, gravity in m/s², downwards. What the angles q mean, each heir says; C is such that
    Ṁ − 2C is skew-symmetric, so that energy changes by the power q̇ᵀτ alone.
    """

    upper: float
    lower: float
    upper_mass: float
    lower_mass: float
    gravity: float = 9.81

    def __post_init__(self) -> None:
        """Check lengths and masses; without one of them M has no inverse."""
        for name in ("upper", "lower", "upper_mass", "lower_mass"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise BadRobot(f"'{name}' of a double pendulum is {getattr(self, name)}; it must be above 0")
        if not np.isfinite(self.gravity):
            raise BadRobot(f"gravity of a double pendulum is {self.gravity}; it must be a number (0: none)")

    @abstractmethod
    def positions(self, q: npt.ArrayLike) -> Array:
        """Where m₁ and m₂ are, from the pivot, 2 × 3."""

    @abstractmethod
    def jacobian(self, q: npt.ArrayLike) -> Array:
        """J of m₂ and of the link it is on: velocity (linear, angular) = J q̇, 6 × 2."""

    @abstractmethod
    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """M, 2 × 2, symmetric and positive definite."""

    @abstractmethod
    def coriolis(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """C, 2 × 2."""

    @abstractmethod
    def gravity_effort(self, q: npt.ArrayLike) -> Array:
        """g: what holds the masses at rest."""

    def inverse_dynamics(self, q: npt.ArrayLike, v: npt.ArrayLike, acceleration: npt.ArrayLike) -> Array:
        """τ = M q̈ + C q̇ + g."""
        inertial = self.mass_matrix(q) @ pair("acceleration", acceleration)
        tau: Array = inertial + self.coriolis(q, v) @ pair("v", v) + self.gravity_effort(q)
        return tau

    def forward_dynamics(self, q: npt.ArrayLike, v: npt.ArrayLike, tau: npt.ArrayLike = (0.0, 0.0)) -> Array:
        """q̈ = M⁻¹ (τ − C q̇ − g)."""
        right = pair("tau", tau) - self.coriolis(q, v) @ pair("v", v) - self.gravity_effort(q)
        acceleration: Array = np.linalg.solve(self.mass_matrix(q), right).astype(np.float64)
        return acceleration

    def kinetic_energy(self, q: npt.ArrayLike, v: npt.ArrayLike) -> float:
        """½ q̇ᵀ M q̇."""
        rates = pair("v", v)
        return float(rates @ self.mass_matrix(q) @ rates) / 2

    def potential_energy(self, q: npt.ArrayLike) -> float:
        """g (m₁ z₁ + m₂ z₂), zero at the pivot's height."""
        heights = self.positions(q)[:, 2]
        return float(self.gravity * (self.upper_mass * heights[0] + self.lower_mass * heights[1]))

    def energy(self, q: npt.ArrayLike, v: npt.ArrayLike) -> float:
        """Kinetic and potential energy."""
        return self.kinetic_energy(q, v) + self.potential_energy(q)


@dataclass(frozen=True)
class DoublePendulum(TwoMasses):
    """The pendulum that hangs: θ₁ of link 1 from straight down, θ₂ of link 2 **relative** to link 1, both about y.

    Kinematics are those of TwoLink without offset: a positive angle swings a mass backwards, to −x. τ are the torques
    of the two joints.
    """

    @property
    def chain(self) -> TwoLink:
        """The same as a chain."""
        return TwoLink(0.0, self.upper, self.lower)

    @classmethod
    def of_limb(cls, model: Model, q: npt.ArrayLike, first: str, second: str) -> DoublePendulum:
        """A limb from a joint down (a hip's pitch, a knee), as a double pendulum (Stabilizer, 3.8).

        l₁ is the distance of the joints; m₁, at its end, is the mass between them. m₂ is all that hangs from the
        second joint, and l₂ reaches to its centre of mass at configuration q.
        """
        robot, at = model.robot, model.at(q)
        hip, knee = robot.joint(first).child, robot.joint(second).child
        below_hip, below_knee = (_hanging_from(model, link) for link in (hip, knee))
        if knee not in below_hip:
            raise BadRobot(f"{robot.name}: joint '{second}' does not hang from joint '{first}'")
        m1, m2 = (sum(robot.link(each).mass for each in links) for links in (below_hip - below_knee, below_knee))
        com = sum(_moment(model, at.placement(model.frame(each)), each) for each in below_knee) / m2
        hip_in_world, knee_in_world = at.position(model.frame(hip)), at.position(model.frame(knee))
        l1, l2 = np.linalg.norm(knee_in_world - hip_in_world), np.linalg.norm(com - knee_in_world)
        return cls(float(l1), float(l2), m1, m2, float(np.linalg.norm(model.gravity)))

    def positions(self, q: npt.ArrayLike) -> Array:
        """(−l₁s₁, 0, −l₁c₁) and that + (−l₂s₁₂, 0, −l₂c₁₂)."""
        first, second = pair("q", q)
        links = np.array([self.upper * _down(first), self.lower * _down(first + second)])
        return np.cumsum(links, axis=0)

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """J of m₂: that of the chain's end."""
        return self.chain.jacobian(q)

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """M = [m₁l₁² + m₂(l₁² + l₂² + 2l₁l₂c₂),  m₂l₂(l₁c₂ + l₂);  m₂l₂(l₁c₂ + l₂),  m₂l₂²] (Eq. 3.48)."""
        l1, l2, m1, m2 = self.upper, self.lower, self.upper_mass, self.lower_mass
        c2 = np.cos(pair("q", q)[1])
        off = m2 * l2 * (l1 * c2 + l2)
        return np.array([[m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2), off], [off, m2 * l2**2]])

    def coriolis(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """C = m₂l₁l₂s₂ [−θ̇₂,  −θ̇₁ − θ̇₂;  θ̇₁,  0] (Eq. 3.49)."""
        k = self.lower_mass * self.upper * self.lower * np.sin(pair("q", q)[1])
        v1, v2 = pair("v", v)
        return np.array([[-k * v2, -k * (v1 + v2)], [k * v1, 0.0]])

    def gravity_effort(self, q: npt.ArrayLike) -> Array:
        """g = g [(m₁ + m₂) l₁s₁ + m₂l₂s₁₂;  m₂l₂s₁₂] (Eq. 3.50)."""
        first, second = pair("q", q)
        lower = self.gravity * self.lower_mass * self.lower * np.sin(first + second)
        upper = self.gravity * (self.upper_mass + self.lower_mass) * self.upper * np.sin(first)
        return np.array([upper + lower, lower])


@dataclass(frozen=True)
class InvertedDoublePendulum(TwoMasses):
    """The pendulum that stands: θ₁ and θ₂ **both from straight up**, about y, so that a positive angle leans forward.

    τ belongs to these angles: the torque of the joint between the links is τ₂, that of the joint at the ground τ₁ + τ₂
    (`ABSOLUTE` transposed).
    """

    def positions(self, q: npt.ArrayLike) -> Array:
        """(l₁s₁, 0, l₁c₁) and that + (l₂ sin θ₂, 0, l₂ cos θ₂) (Eq. 3.56, whose pitch is +θ₂)."""
        first, second = pair("q", q)
        links = np.array([-self.upper * _down(first), -self.lower * _down(second)])
        return np.cumsum(links, axis=0)

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """J of m₂ (Eq. 3.57, with +1 for the pitch)."""
        (s1, s2), (c1, c2) = np.sin(pair("q", q)), np.cos(pair("q", q))
        J = np.zeros((6, 2))
        J[0] = self.upper * c1, self.lower * c2
        J[2] = -self.upper * s1, -self.lower * s2
        J[4, 1] = 1.0
        return J

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """M = [(m₁ + m₂)l₁²,  m₂l₁l₂ cos(θ₁ − θ₂);  m₂l₁l₂ cos(θ₁ − θ₂),  m₂l₂²] (Eq. 3.59)."""
        l1, l2, m1, m2 = self.upper, self.lower, self.upper_mass, self.lower_mass
        first, second = pair("q", q)
        off = m2 * l1 * l2 * np.cos(first - second)
        return np.array([[(m1 + m2) * l1**2, off], [off, m2 * l2**2]])

    def coriolis(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """C = m₂l₁l₂ sin(θ₁ − θ₂) [0,  θ̇₂;  −θ̇₁,  0] (Eq. 3.60)."""
        first, second = pair("q", q)
        k = self.lower_mass * self.upper * self.lower * np.sin(first - second)
        v1, v2 = pair("v", v)
        return np.array([[0.0, k * v2], [-k * v1, 0.0]])

    def gravity_effort(self, q: npt.ArrayLike) -> Array:
        """g = −g [(m₁ + m₂) l₁ sin θ₁;  m₂l₂ sin θ₂] (Eq. 3.61)."""
        masses = np.array([self.upper_mass + self.lower_mass, self.lower_mass])
        effort: Array = -self.gravity * masses * (self.upper, self.lower) * np.sin(pair("q", q))
        return effort


def _down(angle: float) -> Array:
    """The direction that hangs straight down, turned about y by the angle."""
    return np.array([-np.sin(angle), 0.0, -np.cos(angle)])


def _hanging_from(model: Model, link: str) -> set[str]:
    """The link and all beyond it."""
    found = {link}
    for joint in model.robot.joints:  # parents first
        if joint.parent in found:
            found.add(joint.child)
    return found


def _moment(model: Model, link_to_world: Array, link: str) -> Array:
    """Mass times centre of mass in world."""
    body = model.robot.link(link)
    moment: Array = body.mass * (link_to_world[:3, :3] @ body.com + link_to_world[:3, 3])
    return moment
