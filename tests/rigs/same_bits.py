"""python same_bits.py FILE: repeat the recorded calls of a file, and print how results differ."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from kernel_calls import AHandle, Player


def main(path: str) -> None:
    """Compare bit by bit."""
    calls, player = pickle.loads(Path(path).read_bytes()), Player()
    differing: Counter[str] = Counter()
    greatest = 0.0
    for call in calls:
        result = player.play(call)
        same = isinstance(call.result, AHandle) or repr(result) == repr(call.result)
        for number, after in call.after.items():
            found = player.arrays[number]
            if found.tobytes() != after.tobytes():
                same = False
                if after.dtype == np.float64:
                    size = max(float(np.nanmax(np.abs(after))), 1e-3)
                    greatest = max(greatest, float(np.nanmax(np.abs(found - after))) / size)
        differing[call.name] += not same
    print(f"calls {len(calls)}")
    print(f"calls that differ {sum(differing.values())}")
    print(f"greatest relative difference {greatest:.1e}")
    for name, count in differing.items():
        if count:
            print(f"{name} {count}")


if __name__ == "__main__":
    main(sys.argv[1])
