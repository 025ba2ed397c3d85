import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

import extension
import pytest

extension.load()

import kernel_guard  # noqa: E402

kernel_guard.install()

_status = 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test fails if a world compiled a kernel in it or in its fixtures."""
    yield
    kernel_guard.check()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remember how the run ended."""
    global _status
    _status = int(exitstatus)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last call of a run, when all has been reported."""
    extension.leave(_status)
