"""Whether the new tree computes what the old one did, on inputs that the old one recorded.

    python -m benchmarks.kernels_agreement                   all groups
    python -m benchmarks.kernels_agreement wbosc snapshot    some of them
    python -m benchmarks.kernels_agreement --all wbosc       every array, not only the worst of each group

Of an array a, b the difference is max |a − b| over max |a|, or over 1e-3 if that is more. The QP is compared by what
it reaches: level by level, by how much the new one is further from what is asked, in parts of the size of what is
asked; and by how much limits are broken. What the old tree computed is kept in the user's cache, by the text of the
groups. It exits 1 if a limit is not kept.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.old_tree import CHILD, cache_folder, new_tree, old_tree

GROUPS = (
    *("snapshot", "tasks", "wbosc", "closed_form", "iterative", "collision"),
    *("filters", "profiles", "estimation", "walking", "crawling", "qp"),
)
TEXTS = ("agreement.py", "problems.py", "program.py")
SMALLEST = 1e-3
LIMIT, QP_LIMIT = 1e-9, 1e-6
BEYOND_LIMIT = 1e-3
"""Of poses beyond reach, how far the nearest is: a search in a flat valley, which rounding leads to another end of
it in some of 600 cases (four ended 0.03 mm nearer, six up to 0.2 mm farther)."""
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Difference:
    """Of one array."""

    name: str
    value: float
    limit: float = LIMIT
    note: str = ""

    @property
    def kept(self) -> bool:
        """Whether it is small enough; what is not a number never is."""
        return self.value <= self.limit


def differences(groups: tuple[str, ...] = GROUPS) -> list[Difference]:
    """Of all arrays of these groups."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for group in groups:
            recorded, replayed = recorded_by_old_tree(group), Path(folder) / f"{group}.npz"
            new_tree().run("replay", str(recorded), str(replayed), group)
            found += compared(group, outputs(recorded), outputs(replayed))
    return found


def recorded_by_old_tree(group: str) -> Path:
    """The file with inputs and outputs of the old tree; made once."""
    text = b"".join(path.read_bytes() for path in (CHILD.with_name(name) for name in TEXTS))
    path = cache_folder() / "old_tree_outputs" / f"{group}-{hashlib.sha256(text).hexdigest()[:12]}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{os.getpid()}-{path.name}")
        old_tree().run("record", str(unfinished), group)
        unfinished.rename(path)
    return path


def outputs(path: Path) -> Arrays:
    """What a tree computed, and how it failed."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files if not name.startswith("in/")}


def compared(group: str, old: Arrays, new: Arrays) -> list[Difference]:
    """Every array of a group."""
    failed = new.get(f"failed/{group}")
    if failed is not None:
        return [Difference(group, np.inf, note=str(failed))]
    if group == "qp":
        return compared_programs(old, new)
    found = []
    for name, was in old.items():
        plain, now = name.removeprefix("out/"), new.get(name)
        if now is None or now.shape != was.shape:
            found.append(Difference(plain, np.inf, note=f"{was.shape} became {None if now is None else now.shape}"))
        elif was.size:
            limit = BEYOND_LIMIT if plain.endswith(".beyond") else LIMIT
            found.append(Difference(plain, difference(was, now), limit))
    return found


def difference(was: np.ndarray, now: np.ndarray) -> float:
    """The greatest, relative to the greatest number."""
    greatest = float(np.max(np.abs(now - was)) / max(float(np.max(np.abs(was))), SMALLEST))
    return greatest if np.isfinite(greatest) else np.inf


def compared_programs(old: Arrays, new: Arrays) -> list[Difference]:
    """Levels in their order, and limits."""
    found = []
    for name in [each.removesuffix(".broken") for each in old if each.endswith(".broken")]:
        worse = level_by_level(old[f"{name}.objective"], new[f"{name}.objective"], old[f"{name}.size"])
        plain = name.removeprefix("out/")
        found.append(Difference(f"{plain}.level_objectives", worse, QP_LIMIT))
        found.append(Difference(f"{plain}.limits_broken", float(new[f"{name}.broken"].max()), QP_LIMIT))
    return found


def level_by_level(old: np.ndarray, new: np.ndarray, size: np.ndarray) -> float:
    """By how much the new one is worse, at most; below a level in which it is better, levels are not compared."""
    worse = (new - old) / size
    better_above = np.cumsum(worse < -QP_LIMIT, axis=1) - (worse < -QP_LIMIT) > 0
    return float(np.where(better_above, 0.0, np.maximum(worse, 0.0)).max())


def main() -> int:
    """Print what differs most."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help=", ".join(GROUPS))
    parser.add_argument("--all", action="store_true", help="every array, worst first")
    told = parser.parse_args()
    unknown = sorted(set(told.groups) - set(GROUPS))
    if unknown:
        parser.error(f"no group '{unknown[0]}'; there are {', '.join(GROUPS)}")
    kept = True
    for group in told.groups or GROUPS:
        found = sorted(differences((group,)), key=lambda each: -each.value / each.limit)
        broken = [each for each in found if not each.kept]
        kept = kept and not broken
        for each in found if told.all else (broken[:8] or found[:1]):
            verdict = "agrees" if each.kept else "DIFFERS"
            print(f"{group:12} {each.value:9.2e} ≤ {each.limit:.0e}  {verdict:8} {each.name} {each.note}".rstrip())
        if len(broken) > 8 and not told.all:
            print(f"{group:12} and {len(broken) - 8} more of {len(found)} arrays; --all shows them")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
