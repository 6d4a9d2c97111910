"""Walking: pendulum, footsteps, swing, preview, pattern, the walker; beside it, rooms for balance and for crawling."""

from wholebody.locomotion.balance.stabilizers import Command, Stabilizer, stabilizer_named
from wholebody.locomotion.walking.footsteps import Feet, Footstep, Place, StepLimits, Velocity
from wholebody.locomotion.walking.gait import Gait, gait_of
from wholebody.locomotion.walking.pattern import Pattern, Target
from wholebody.locomotion.walking.walker import Walker

__all__ = [
    "Command",
    "Feet",
    "Footstep",
    "Gait",
    "Pattern",
    "Place",
    "Stabilizer",
    "StepLimits",
    "Target",
    "Velocity",
    "Walker",
    "gait_of",
    "stabilizer_named",
]
