import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import extension
import pytest

extension.load()

_status = 0


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remember how the run ended."""
    global _status
    _status = int(exitstatus)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last call of a run, when all has been reported."""
    extension.leave(_status)
