"""LogStream: what a process of a robot prints; a full disk, or nobody who reads, costs lines and never the process."""

from __future__ import annotations

import io
import os


class LogStream(io.TextIOBase):
    """Text into an open file, line by line. What cannot be written is lost, and that is said where it can be again."""

    encoding = "utf-8"

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file, self._begun, self._lost, self._why = file, "", 0, ""

    def fileno(self) -> int:
        """The open file."""
        return self._file

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Write all whole lines, or lose them."""
        lines, end, self._begun = (self._begun + text).rpartition("\n")
        self._put(lines + end)
        return len(text)

    def flush(self) -> None:
        """Write what of a line there is."""
        self._put(self._begun)
        self._begun = ""

    def _put(self, text: str) -> None:
        if not text:
            return
        said = f"({self._lost} lines are missing here: {self._why})\n" if self._lost else ""
        raw = (said + text).encode(self.encoding, "replace")
        try:
            while raw:
                raw = raw[os.write(self._file, raw) :]
            self._lost = 0
        except OSError as error:
            self._lost += text.count("\n")
            self._why = error.strerror or type(error).__name__
