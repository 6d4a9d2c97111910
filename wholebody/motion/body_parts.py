"""Body parts: which joint of a captured skeleton is the pelvis, which a knee; by the names that programs give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wholebody.errors import CannotImitate, UnknownName
from wholebody.motion.skeleton import Skeleton

SIDES = ("left", "right")
MIDDLE = ("pelvis", "chest")
OF_A_SIDE = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")
PARTS = MIDDLE + tuple(f"{side}_{part}" for side in SIDES for part in OF_A_SIDE)
OPTIONAL = frozenset({"chest", "left_toe", "right_toe"})

ORDER = ("pelvis", "chest", *OF_A_SIDE)


@dataclass(frozen=True)
class Naming:
    """How a program calls the parts, in small letters without anything between them; # stands for the side."""

    title: str
    sides: tuple[str, str]
    names: tuple[str, ...]  # in the ORDER; alternatives parted by |

    def find(self, known: Mapping[str, int]) -> dict[str, int]:
        """The parts that are there."""
        found: dict[str, int] = {}
        for part, alternatives in zip(ORDER, self.names, strict=True):
            for side, letter in zip(SIDES, self.sides, strict=True):
                place = part if part in MIDDLE else f"{side}_{part}"
                for name in alternatives.replace("#", letter).split("|"):
                    if name in known:
                        found.setdefault(place, known[name])
        return found


NAMINGS = (
    Naming(
        "MotionBuilder, CMU, Mixamo",
        ("left", "right"),
        ("hips", "spine2|spine1|spine", "#upleg", "#leg", "#foot", "#toebase|#toe", "#arm", "#forearm", "#hand"),
    ),
    Naming(
        "anatomic",
        ("left", "right"),
        (
            "hips|hip|pelvis", "chest4|chest3|chest2|chest|spine2|spine1|spine",
            "#hip", "#knee", "#ankle|#foot", "#toe|#toes|#ball", "#shoulder", "#elbow", "#wrist|#hand",
        ),
    ),
    Naming(
        "Blender",
        ("l", "r"),
        (
            "hips|pelvis|root|spine", "chest|spine003|spine3|spine002|spine2|spine",
            "thigh#|upperleg#", "shin#|lowerleg#", "foot#", "toe#|toes#", "upperarm#", "forearm#|lowerarm#", "hand#",
        ),
    ),
    Naming(
        "Unreal",
        ("l", "r"),
        (
            "pelvis|root", "spine03|spine02|spine",
            "thigh#", "calf#", "foot#", "ball#", "upperarm#", "lowerarm#", "hand#",
        ),
    ),
    Naming(
        "3ds Max Biped",
        ("l", "r"),
        ("pelvis", "spine2|spine1|spine", "#thigh", "#calf", "#foot", "#toe0", "#upperarm", "#forearm", "#hand"),
    ),
    Naming(
        "Poser, DAZ",
        ("l", "r"),
        ("hip|hips", "chest|abdomen", "#thigh", "#shin", "#foot", "#toe|#toes", "#shldr", "#forearm", "#hand"),
    ),
)  # fmt: skip
"""Common skeletons. Each is taken as a whole: `LeftShoulder` is a collar bone to one and an upper arm to another."""


def find_parts(skeleton: Skeleton, given: Mapping[str, str] | None = None) -> dict[str, int]:
    """The node of each part; `given` names joints for parts, where names do not tell or tell wrongly.

    The chest and the toes may be missing; CannotImitate if another part is.
    """
    joints = {node.name: index for index, node in enumerate(skeleton.nodes) if not node.is_end}
    chosen = {}
    for part, name in (given or {}).items():
        if part not in PARTS:
            raise UnknownName("body part", part, PARTS)
        if name not in joints:
            raise UnknownName("joint of the captured skeleton", name, joints)
        chosen[part] = joints[name]
    plain = {_plain(name): index for name, index in joints.items()}
    best = max((naming.find(plain) | chosen for naming in NAMINGS), key=len)
    missing = [part for part in PARTS if part not in best and part not in OPTIONAL]
    if missing:
        shown = ", ".join(list(joints)[:30])
        raise CannotImitate(
            f"no joint of the captured skeleton is known as {', '.join(missing)}: tell which they are, as in "
            f"parts={{'{missing[0]}': '…'}}; its joints are: {shown}"
        )
    return best


def _plain(name: str) -> str:
    """A joint's name in small letters and digits, without the name of a figure before it."""
    return re.sub(r"^(mixamorig|bip0*1)(?=.)", "", re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower()))
