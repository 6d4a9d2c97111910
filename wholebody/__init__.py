"""Whole-body control of humanoid robots, as small processes that talk through shared memory.

A daemon owns the robot and moves it at a fixed rate; controllers, in any process, read its newest state
and put references for it on named channels. Importing this package loads nothing else of it: take what
you need from its subpackages (`from wholebody.channels import Channel`). `docs/architecture.md` is the map.
"""

__version__ = "0.2.0"
