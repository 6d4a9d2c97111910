"""Types of the C extension; binding.c is the code."""

from collections.abc import Sequence
from typing import Literal, Self, TypedDict, TypeVar

from typing_extensions import Buffer

NAME_MAX: int
DEPTH_MAX: int
WRITERS_MAX: int
PAYLOAD_MAX: int
TEXT_MAX: int
VERSION: int

NAME: int
SIZE: int
FOREIGN: int
OLD: int
TRUNCATED: int
CORRUPT: int
STALE: int
LAYOUT: int
WRITERS: int
BUSY: int
FORKED: int
EXHAUSTED: int
OVERRUN: int

class Description(TypedDict):
    payload_size: int
    layout_hash: int
    layout_text: bytes
    newest: int
    file_size: int
    depth: int
    writers: int

class Ring:
    def __new__(
        cls,
        path: str,
        payload_size: int = ...,
        layout_hash: int = ...,
        layout_text: str | None = ...,
        depth: int = ...,
        writers: int = ...,
    ) -> Self: ...
    def describe(self) -> Description: ...
    def writer_processes(self) -> list[int]: ...

class Writer:
    def __new__(cls, ring: Ring, message: Buffer) -> Self: ...
    @property
    def sequence(self) -> int: ...
    def put(self) -> None: ...
    def put_stamped(self, stamp_ns: int, /) -> None: ...
    def close(self) -> None: ...

class Reader:
    def __new__(cls, ring: Ring, message: Buffer) -> Self: ...
    @property
    def sequence(self) -> int: ...
    @property
    def stamp(self) -> float: ...
    @property
    def stamp_ns(self) -> int: ...
    @property
    def age(self) -> float: ...
    @property
    def missed(self) -> int: ...
    @property
    def missed_total(self) -> int: ...
    @property
    def process(self) -> int: ...
    @property
    def unread(self) -> bool: ...
    def latest(self) -> bool: ...
    def next(self) -> bool: ...
    def at(self, sequence: int, /) -> bool: ...
    def wait(
        self,
        timeout: float | None = None,
        mode: Literal["latest", "next"] = "latest",
        spin: float = 0.0,
        until: float | None = None,
    ) -> bool: ...
    def close(self) -> None: ...

class Looks:
    def __new__(cls, readers: Sequence[Reader]) -> Self: ...
    def latest(self) -> list[int]: ...

class Copies:
    def __new__(cls, pairs: Sequence[tuple[Writer, Buffer]]) -> Self: ...
    def put(self, time: float, /) -> None: ...

_R = TypeVar("_R", bound=Reader)

def wait_any(
    readers: Sequence[_R], timeout: float | None = None, spin: float = 0.0, until: float | None = None
) -> list[_R]: ...
def path(name: str, /) -> str: ...
