"""Examples in C and C++, built by the commands that stand at their beginning."""

import re
import subprocess

from robot_processes import EXAMPLES, wholebody


def compiled(source, folder):
    """Build an example in a folder; the program, which has the name of its source."""
    commands = re.findall(r"^(?: \*|//)   (wholebody channels .*|g[c+][c+] .*)$", source.read_text(), re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        words = command.replace("$(wholebody channels cflags)", "FLAGS").replace("examples/", f"{EXAMPLES}/").split()
        if words[0] == "wholebody":
            wholebody(*words[1:], cwd=folder)
            continue
        at = words.index("FLAGS")
        words[at : at + 1] = wholebody("channels", "cflags").stdout.split()
        subprocess.run([*words, "-Wall", "-Wextra", "-Werror", "-Wpedantic"], cwd=folder, check=True)
    return folder / source.stem
