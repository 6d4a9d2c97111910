"""Messages that are numbers, and readers and writers of them in other processes."""

import subprocess
import sys

import numpy as np

COUNT = np.dtype([("count", "<i8"), ("filling", "<i8", (31,))])


def put(writer, *counts):
    for count in counts:
        writer.message["count"] = count
        writer.message["filling"][:] = count
        writer.put()


def in_another_process(source, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", source, *map(str, arguments)], **options)
