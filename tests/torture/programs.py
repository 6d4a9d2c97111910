"""Builds the torture's C programs, around ring.c as it is or around one that is wrong on purpose."""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHANNELS = HERE.parent.parent / "wholebody" / "channels"
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,-z,now"]

SECOND_LOOK = """    if (atomic_load_explicit(place, memory_order_relaxed) != entry)
        return 0;
"""
ADVANCE = "    writer->mine = slot_of(old);\n"
FILL = "    memcpy(slot->payload, payload, ring->payload_size);\n"
END = "    WB_FAULT(4);\n"
LOCK = "    while (__atomic_exchange_n(&ring->header->reserved, 1, __ATOMIC_SEQ_CST))\n        wb_relax();\n"
UNLOCK = "    __atomic_store_n(&ring->header->reserved, 0, __ATOMIC_SEQ_CST);\n"
INTENT = "        atomic_store_explicit(lease, writer->mine | slot_of(old) << SLOT_BITS, memory_order_release);\n"
FOUND = "    writer->mine = (uint32_t)slot;\n"
TAKE = "lock_lease(writer->lock, lease, F_WRLCK)"
LEAVE = "    free(writer);\n"
LINK = '    snprintf(link, sizeof link, "/proc/self/fd/%d", file);\n'
NAMING = LINK + "    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0) {\n"
NAMED = LINK + "    status = linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);\n"
PLANNED = "    memcpy(mapped, &header, sizeof header);\n"
STAMP = "        slot->stamp = stamp < 0 ? wb_now() : stamp;\n"

# name of the mistake → (what ring.c says, what it says instead)
MISTAKES: dict[str, list[tuple[str, str]]] = {
    "a reader looks at the entry only once": [(SECOND_LOOK, "")],
    "a writer keeps the slot it has published": [(ADVANCE, "")],
    "a writer publishes its slot, then fills it": [(FILL, ""), (ADVANCE, FILL + ADVANCE)],
    "a writer reads the clock before it knows its sequence": [(STAMP, ""), (FILL, FILL + STAMP)],
    "a writer locks the others out while it puts": [(FILL, LOCK + FILL), (END, UNLOCK + END)],
    "a writer does not say which slot it is about to take": [(INTENT, "")],
    "a new writer takes the slot that the dead one's lease names": [
        (FOUND, "    slot = (int)(ring->leases[writer->lease].slots & SLOT_MASK);\n" + FOUND)
    ],
    "a writer's life is a word in memory instead of a lock": [
        (TAKE, f"writer->ring->leases[lease].process ? -EAGAIN : {TAKE}"),
        (LEAVE, "    writer->ring->leases[writer->lease].process = 0;\n" + LEAVE),
    ],
    "a channel is named before it is filled": [(NAMING, "    if (status < 0) {\n"), (PLANNED, NAMED + PLANNED)],
}


def compile_program(name: str, output: Path, ring: Path = CHANNELS, sources: tuple[str, ...] = ()) -> Path:
    """Compile NAME.c around the ring.c in the folder `ring`, or beside it, if `sources` of the folder are given."""
    files = [str(HERE / f"{name}.c"), *(str(ring / each) for each in sources)]
    subprocess.run(["gcc", *FLAGS, "-I", str(ring), *files, "-o", str(output)], check=True)
    return output


def make_mistake(name: str, folder: Path) -> Path:
    """Write ring.h, and ring.c with that mistake, into `folder`."""
    source = (CHANNELS / "ring.c").read_text()
    for right, wrong in MISTAKES[name]:
        if source.count(right) != 1:
            raise LookupError(f"ring.c does not say this once, so no mistake can be made of it:\n{right}")
        source = source.replace(right, wrong)
    (folder / "ring.c").write_text(source)
    (folder / "ring.h").write_bytes((CHANNELS / "ring.h").read_bytes())
    return folder
