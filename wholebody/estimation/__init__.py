"""From what sensors measure to what a controller wants to know: attitude, contacts, wrenches, balance."""

from wholebody.estimation.attitude import AttitudeFilter, AttitudeNoise, ParticleAttitude
from wholebody.estimation.balance import Balance, BalanceEstimator
from wholebody.estimation.contacts import ContactDetector, ContactSettings, Feet
from wholebody.estimation.sensor_faults import Faults, FrozenSensors, FrozenSettings
from wholebody.estimation.support import AnkleSpring, SupportFilter, SupportNoise
from wholebody.rotations import roll_pitch_yaw

__all__ = [
    "AnkleSpring",
    "AttitudeFilter",
    "AttitudeNoise",
    "Balance",
    "BalanceEstimator",
    "ContactDetector",
    "ContactSettings",
    "Faults",
    "Feet",
    "FrozenSensors",
    "FrozenSettings",
    "ParticleAttitude",
    "SupportFilter",
    "SupportNoise",
    "roll_pitch_yaw",
]
