"""A user's own panels in a real browser: the one that docs/page.md shows, and some that are wrong."""

import os
import re
from pathlib import Path

import pytest
from page_browser import chromium, in_browser, page_of, page_process  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody.processes import lifecycle

ROOT = Path(__file__).resolve().parents[2]
RAISING = """\
import time

from wholebody.operator.page.panel import Column, Panel, Series

class Raises(Panel):
    open = True
    columns = (Column("never"),)

    def rows(self):
        raise ValueError("the sensor is on the moon")

class Hangs(Panel):
    open = True
    columns = (Column("never"),)

    def rows(self):
        time.sleep(1e6)
"""
INK = """() => { const canvas = document.querySelector('#panel-loads canvas'), seen = {};
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen[[data[i], data[i + 1], data[i + 2]]] = true;
    return Object.keys(seen).length; }"""


@pytest.fixture
def robot():
    """A robot that moves without physics."""
    wholebody("start", "hubo2plus", "--no-physics")
    yield
    end_all()


@pytest.fixture
def loads(tmp_path):
    """The panel of docs/page.md, in a file."""
    file = tmp_path / "loads.py"
    file.write_text(re.search(r"```python\n(.*?)```", (ROOT / "docs" / "page.md").read_text(), re.DOTALL)[1])
    return f"{file}:Loads"


def opened(browser, address, **size):
    page = browser.new_page(viewport=size or {"width": 1000, "height": 900})
    page.goto(f"{address}&view=off")
    page.wait_for_selector("body[data-connection=connected]", timeout=30_000)
    return page


@in_browser
def test_the_panel_of_the_documents_has_its_form_table_and_plot_and_obeys_who_has_control(robot, loads, browser):
    with page_of("robot", "--no-camera", "--panel", loads) as address:
        page = opened(browser, address)
        panel = page.locator("#panel-loads")
        assert panel.locator("summary").text_content() == "Loads"
        wait_for(lambda: panel.locator("tbody tr").count() == 5)
        assert panel.locator("th").all_text_contents() == ["joint", "effort, N·m"]
        wait_for(lambda: page.evaluate(INK) >= 2)
        assert re.search(r"left knee -?\d", panel.locator("figure").text_content())

        angle, button, answer = panel.get_by_label("angle"), panel.locator("button"), panel.locator(".answer")
        assert angle.input_value() == "20"
        assert "how far the head turns" in panel.text_content()
        button.click()
        wait_for(lambda: "CONTROL BEGIN comes first" in answer.text_content())
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        angle.fill("80")
        button.click()
        wait_for(lambda: "outside 1 … 60 °" in answer.text_content())
        angle.fill("15")
        panel.get_by_label("side").select_option("RIGHT")
        button.click()
        wait_for(lambda: answer.text_content() == "looks by 15° to the right")
        wait_for(lambda: "MOVE HEAD RIGHT 15 DEGREES" in page.text_content("#commands"))


@pytest.mark.slow
@in_browser
def test_a_panel_that_raises_hangs_or_cannot_be_imported_says_so_in_its_box_and_ends_nothing(
    robot, loads, tmp_path, browser, monkeypatch
):
    told = tmp_path / "lab-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (tmp_path / "lab.py").write_text(RAISING)
    (told / "entry_points.txt").write_text(
        "[wholebody.panels]\nraises = lab:Raises\nnowhere = lab:Nobody\nhangs = lab:Hangs\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    with page_process("robot", "--no-camera", "--panel", loads, log=tmp_path / "log") as (process, address):
        page = opened(browser, address, width=360, height=780)
        for name, why in (("raises", "the sensor is on the moon"), ("nowhere", "no 'Nobody' in lab"), ("hangs", "3 s")):
            wait_for(lambda name=name, why=why: why in page.text_content(f"#panel-{name}"))
        wait_for(lambda: page.locator("#panel-loads tbody tr").count() == 5)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.wait_for_timeout(3000)
        assert process.poll() is None
        page.click("#stop")
        wait_for(lambda: page.text_content("#condition") == "stopped")
    assert (tmp_path / "log").read_text().count("ValueError: the sensor is on the moon") == 1, "not once a second"


def test_a_panel_that_is_given_and_is_none_is_refused_before_anything_begins(robot, tmp_path):
    (tmp_path / "wrong.py").write_text("class Wrong: pass\n")
    refused = wholebody("page", "--panel", f"{tmp_path}/wrong.py:Wrong", check=False)
    assert refused.returncode == 1
    assert "no class that inherits from wholebody.operator.page.panel.Panel" in " ".join(refused.stderr.split())
    assert not lifecycle.log_file("robot").exists() or "Traceback" not in lifecycle.log_file("robot").read_text()


@pytest.mark.slow
@in_browser
def test_a_verb_of_ones_own_has_a_form_whose_order_is_done(tmp_path, browser):
    nod = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "behaviors.md").read_text(), re.DOTALL)[1]
    (tmp_path / "nod.py").write_text(nod)
    wholebody("start", "hubo2plus", "--driver", "loopback", "--behavior", tmp_path / "nod.py:Nod")
    try:
        with page_of("robot", "--no-walk", "--no-camera") as address:
            page = opened(browser, address)
            page.click("#panel-verbs summary")
            form = page.locator("#panel-verbs form")
            wait_for(lambda: form.count() == 1)
            assert "Turn a joint to and fro." in form.text_content()
            assert "0 … 0.6 rad" in form.text_content()
            assert "how far to each side" in form.text_content()
            page.click("#control")
            page.wait_for_selector("body[data-control=mine]")
            form.get_by_label("times").fill("40")
            form.locator("button").click()
            wait_for(lambda: "times = 40 is outside 1 … 20" in page.text_content("#commands"))
            form.get_by_label("times").fill("1")
            form.get_by_label("angle").fill("10deg")
            form.locator("button").click()
            wait_for(lambda: "NOD times=1 angle=10deg joint=NKY" in page.text_content("#commands"))
            wait_for(page.locator("#commands li[data-stage=COMPLETED]").count)
    finally:
        end_all()
