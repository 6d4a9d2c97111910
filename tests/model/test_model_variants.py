"""The kernel of a snapshot is compiled once for every processor and once for those with AVX: the bits are the same."""

import platform

import numpy as np
import pytest

from wholebody import _kernels, robots
from wholebody.model import Model
from wholebody.model.snapshot import Buffer

NAMES = robots.names()


def bits(evaluate, model, q, v):
    buffer = Buffer(model.tree, model.integers)
    assert evaluate(model.tree, buffer.handle, q, v) == 0
    return buffer.storage.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_both_variants_give_the_same_bits(name):
    model, rng = Model(robots.load(name)), np.random.default_rng(0)
    for _ in range(10):
        q, v = model.random(rng), rng.normal(size=model.nv)
        assert bits(_kernels.model_evaluate, model, q, v) == bits(_kernels.model_evaluate_plainly, model, q, v)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is one variant")
def test_a_processor_with_avx_runs_the_variant_for_it():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    assert _kernels.model_variant() == ("avx" if "avx" in flags else "plain")
