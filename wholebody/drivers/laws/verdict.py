"""Verdict: whether a driver keeps a law."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Whether a law is kept, what was seen, and what to do if it is not."""

    law: str
    passed: bool
    figure: str
    remedy: str = ""


def said(error: Exception) -> str:
    """An error as a figure."""
    return f"{type(error).__name__}: {error}"
