"""The compiler, numba, and a sentence where it is missing."""

from .errors import SoftPressureError
from .garbage import without_collection


class CompilerError(SoftPressureError):
    """The compiler is missing, or not complete yet; importing what needs it may work later. `module`: which part."""

    def __init__(self, module: str) -> None:
        super().__init__(f"Compiler: {module} is missing. Install it, or wait until that is done.")
        self.module = module


def require() -> None:
    """Import numba; raises `CompilerError`."""
    try:
        with without_collection():
            import numba  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise CompilerError(error.name) from None
