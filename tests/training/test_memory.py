import resource
import sys

import pytest
import torch

from tenfold.training.loop import keep_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the C library of Linux")
def test_freed_memory_is_not_cleared_again():
    """A large tensor made again and again costs page faults only at first."""
    assert keep_memory()
    before = 0
    for again in range(12):
        torch.empty(2**22).fill_(1.0)
        if again == 5:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 2**22 * 4 // 4096  # six tensors, fewer faults than one has pages
