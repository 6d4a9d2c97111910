"""Public names come and go on purpose only."""

import importlib

import public_names
import pytest

KNOWN = public_names.SNAPSHOT.read_text(encoding="utf-8").splitlines()


def test_the_names_are_those_of_the_snapshot():
    now = set(public_names.names())
    gone, new = sorted(set(KNOWN) - now), sorted(now - set(KNOWN))
    assert (gone, new) == ([], []), (
        "public names have changed: if that is meant, renew the snapshot with `make docs` (tools/public_names.py), "
        "and say so in CHANGELOG.md"
    )


@pytest.mark.parametrize("module", sorted({each.rpartition(".")[0] for each in KNOWN if " " not in each}))
def test_every_name_can_be_had(module):
    names = [each.rpartition(".")[2] for each in KNOWN if each.rpartition(".")[0] == module]
    there = importlib.import_module(module)
    for name in names:
        if not hasattr(there, name):
            importlib.import_module(f"{module}.{name}")  # a module below it


def test_names_that_are_listed_defined_or_shown_count_and_no_others(tmp_path):
    files = {
        "wholebody/__init__.py": "__version__ = '1'",
        "wholebody/errors.py": "import os\nclass Bad(Exception): ...\n_hidden = 1\nLIMIT: int = 3\nA, B = 1, 2",
        "wholebody/model/__init__.py": "from wholebody.model.deep import Model\n__all__ = ['Model']",
        "wholebody/model/deep.py": "class Model: ...\nclass Tree: ...",
        "examples/one.py": "from wholebody.model.deep import Tree",
        "README.md": "```python\nfrom wholebody import model\n```",
        "pyproject.toml": "[project.entry-points.'wholebody.tasks']\npose = 'x:y'",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert public_names.names(tmp_path) == [
        "entry point wholebody.tasks pose",
        "wholebody.errors.A",
        "wholebody.errors.B",
        "wholebody.errors.Bad",
        "wholebody.errors.LIMIT",
        "wholebody.model",
        "wholebody.model.Model",
        "wholebody.model.deep.Tree",
    ]
