"""A real browser, and the page of a robot as `wholebody page` serves it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from robot_processes import MAIN

import wholebody.operator.page as page_package

CHROMIUM = shutil.which("chromium")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
BUNDLE = Path(page_package.__file__).parent / "static" / "page.js"
SCREENSHOTS = Path(os.environ["WHOLEBODY_SCREENSHOTS"]) if "WHOLEBODY_SCREENSHOTS" in os.environ else None
"""Where tests leave pictures of the page, if anywhere: docs has those that were looked at."""

in_browser = pytest.mark.skipif(
    CHROMIUM is None or not BUNDLE.is_file(), reason="needs chromium, and the page built with npm (make page)"
)


@pytest.fixture(name="browser")
def chromium():
    """Chromium."""
    with launched(*FLAGS) as browser:
        yield browser


@contextlib.contextmanager
def launched(*flags):
    """Chromium, with flags of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*flags])
        yield browser
        browser.close()


@contextlib.contextmanager
def page_of(name, *options, walk=False):
    """The page of a robot that runs; its address, with the token."""
    with page_process(name, *options, walk=walk) as (_, address):
        yield address


def address_of(lines):
    """The address with the token, of the file that is named in the lines that a page says."""
    file = next(found for line in lines if (found := re.search(r"is in (/\S+\.html)", line)))[1]
    return re.search(r"url=([^\"]+)", Path(file).read_text())[1]


@contextlib.contextmanager
def page_process(name, *options, walk=False, log=None):
    """The same, and the process that serves it; what it says on stderr goes into a log, if one is named."""
    command = [*MAIN, "page", "--port", "0", "--name", name, *([] if walk else ["--no-walk"]), *options]
    with (
        open(log, "ab") if log else contextlib.nullcontext() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as page,
    ):
        try:
            yield page, address_of(page.stdout)
        finally:
            page.terminate()
