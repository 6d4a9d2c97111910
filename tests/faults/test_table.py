"""docs/faults.md is of the faults that there are."""

from catalog import FAULTS
from table import PAGE


def test_every_fault_of_the_catalogue_has_its_row_and_no_row_is_of_another():
    rows = [line.split(" | ")[:2] for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert [(name.removeprefix("| "), about) for name, about in rows] == [
        (each.name, each.scene.about) for each in FAULTS
    ]
    assert len({each.id for each in FAULTS}) == len(FAULTS)
