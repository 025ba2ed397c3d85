"""Processors of a family give the same bits: kernels are compiled for the family, whatever numpy and BLAS choose."""

import pytest
import roundings
from softpressure_ext.tools import child


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_processors_of_a_family_give_the_same_bits(solver: str) -> None:
    family = {name: settings for name, settings in roundings.ROUNDINGS.items() if "NUMBA_CPU_NAME" not in settings}
    assert len(family) == 3
    environments = [roundings.environment(settings) for settings in family.values()]
    found = {child.call("tests.support.bits_scene", "digest", env=each, solver=solver) for each in environments}
    assert len(found) == 1
