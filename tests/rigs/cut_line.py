"""A line that is cut and closes nothing, as networks do."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


@contextlib.contextmanager
def passed_on(port):
    """Its port, and what cuts it."""
    cut, ending = threading.Event(), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_pass_on, args=(listening, port, cut, ending))
    thread.start()
    try:
        yield listening.getsockname()[1], cut.set
    finally:
        ending.set()
        thread.join()
        listening.close()


def _pass_on(listening, port, cut, ending):
    others = {}
    while not ending.is_set():
        ready, _, _ = select.select([listening, *([] if cut.is_set() else others)], [], [], 0.05)
        for each in ready:
            if each is listening:
                here, there = each.accept()[0], socket.create_connection(("127.0.0.1", port))
                others |= {here: there, there: here}
            elif each in others and not _pass(each, others[each]):
                others.pop(others.pop(each)).close()
                each.close()
    for each in others:
        each.close()


def _pass(one, other):
    """Whether both go on."""
    try:
        data = one.recv(1 << 16)
        other.sendall(data)
    except OSError:
        return False
    return bool(data)
