"""A controller written in C and one in Python share a channel."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wholebody import messages
from wholebody.channels import Channel, Layout
from wholebody.channels.languages.c_header import c_header
from wholebody.errors import BadLayout

JOINTS = ("RHY", "RHR", "RHP")
STRICT = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wpedantic"]


def wholebody(*arguments):
    command = [sys.executable, "-c", "from wholebody.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout


def compile_c(folder, source, compiler="gcc", standard="c11"):
    program = folder / "controller"
    flags = wholebody("channels", "cflags").split()
    command = [compiler, f"-std={standard}", *STRICT, "-I", folder, source, *flags, "-o", program]
    subprocess.run(command, check=True)
    return program


@pytest.fixture
def channels():
    state, reference = messages.state(JOINTS, imus=["pelvis"]), messages.reference(JOINTS)
    with Channel("demo.state", state) as states, Channel("demo.c.reference", reference) as references:
        yield states, references


@pytest.mark.slow(but="gcc-c11")
@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c11"), ("g++", "c++17")])
def test_the_example_controller_follows_the_state_that_python_puts(channels, tmp_path, compiler, standard):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    states, references = channels
    for name in ("demo.state", "demo.c.reference"):
        wholebody("channels", "header", name, "-o", str(tmp_path / f"{name.replace('.', '_')}.h"))
    source = Path(__file__).parents[2] / "examples" / "controller.c"
    if compiler == "g++":
        cpp = tmp_path / "controller.cpp"
        cpp.write_text(source.read_text())
        source = cpp
    controller = subprocess.Popen([compile_c(tmp_path, source, compiler, standard)])
    writer, reader = states.writer(), references.reader()
    for count in range(1, 300):
        writer.message["time"] = count
        writer.message["position"][:] = np.arange(3) + count
        writer.put()
        assert reader.wait(20, mode="next")
        assert reader.message["time"] == count
        assert (reader.message["position"] == writer.message["position"]).all()
        assert reader.message["mask"].all()
        assert reader.process == controller.pid
    assert controller.wait(20) == 0, "and ends when states stop coming"


def test_c_is_refused_a_channel_of_another_layout(channels, tmp_path):
    for name, dtype in (
        ("demo.state", messages.state(("a", "b"))),
        ("demo.c.reference", messages.reference(("a", "b"))),
    ):
        (tmp_path / f"{name.replace('.', '_')}.h").write_text(c_header(name, Layout.of(dtype)))
    program = compile_c(tmp_path, Path(__file__).parents[2] / "examples" / "controller.c")
    run = subprocess.run([program], capture_output=True, text=True, timeout=20)
    assert run.returncode == 1
    assert "another layout" in run.stderr


def test_c_creates_a_channel_that_python_opens(tmp_path):
    (tmp_path / "made_in_c.h").write_text(c_header("made.in.c", Layout.of(messages.event())))
    source = tmp_path / "create.c"
    source.write_text("""
#include <string.h>
#include "made_in_c.h"
int main(void)
{
    char path[WB_PATH_MAX];
    wb_ring *ring;
    wb_writer *writer;
    made_in_c event;
    memset(&event, 0, sizeof event);
    strcpy(event.name, "arrived");
    event.values[7] = 0.25;
    if (wb_path("made.in.c", path) < 0 || wb_open(&ring, path, &made_in_c_layout, 8, 2) < 0)
        return 1;
    if (wb_writer_open(&writer, ring) < 0 || wb_put(writer, &event) != 1)
        return 2;
    return 0;
}
""")
    assert subprocess.run([compile_c(tmp_path, source)], timeout=20).returncode == 0
    with Channel("made.in.c", messages.event()) as channel:
        reader = channel.reader()
        assert reader.latest()
        assert (reader.message["name"], reader.message["values"][7], channel.depth) == (b"arrived", 0.25, 8)


@pytest.mark.parametrize(
    "dtype",
    [
        "f8",
        ("i2", (3, 2)),
        [("a", "u1"), ("b", "f8"), ("text", "S5")],
        np.dtype([("a", "u1"), ("b", [("x", "i4"), ("y", "f4", (2,))], (3,))], align=True),
        np.dtype({"names": ["a", "b"], "formats": ["u1", "<u4"], "offsets": [3, 8], "itemsize": 20}),
    ],
)
def test_the_c_struct_has_every_field_where_numpy_has_it(dtype, tmp_path):
    """The header asserts offsets and sizes itself; here the C compiler checks them."""
    source = tmp_path / "check.c"
    source.write_text(c_header("9.check-it", Layout.of(dtype)) + "\nconst wb_layout *used = &_9_check_it_layout;\n")
    here = Path(wholebody("channels", "cflags").split()[0][2:])
    subprocess.run(["gcc", "-std=c11", *STRICT, f"-I{here}", "-fsyntax-only", source], check=True)
    assert "static_assert(offsetof" in source.read_text()


@pytest.mark.parametrize("dtype", ["c16", "<U3", ">f8", "f2"])
def test_what_c_cannot_say_is_refused(dtype):
    with pytest.raises(BadLayout, match="no counterpart in C"):
        c_header("test", Layout.of(dtype))


def test_overlapping_fields_are_refused():
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["f8", "f8"], "offsets": [0, 4]})
    with pytest.raises(BadLayout, match="overlaps"):
        c_header("test", Layout.of(overlapping))
