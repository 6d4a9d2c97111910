"""Every fault of the catalogue ends as it declares: people read what is wrong, and the robot comes to a safe state."""

import pytest
from catalog import FAULTS
from fault import undergo


@pytest.mark.slow(but="its controller hangs (SIGSTOP) while it walks")
@pytest.mark.parametrize("fault", FAULTS, ids=[each.id for each in FAULTS])
def test_no_fault_ends_in_silence_or_in_a_lie(fault):
    if missing := fault.needs():
        pytest.skip(missing)
    assert undergo(fault).wrong == []
