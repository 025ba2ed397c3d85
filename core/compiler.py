"""The compiler, numba, and a sentence where it is missing."""

from .errors import SoftPressureError


class CompilerError(SoftPressureError):
    """The compiler is missing, or not complete yet; importing what needs it may work later."""


def require() -> None:
    """Import numba; raises `CompilerError`."""
    try:
        import numba  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise CompilerError(
            f"Soft Pressure: its compiler ({error.name}) is not there yet. If another Blender is installing the "
            "extension, wait until it is done and try again; else install the extension again."
        ) from None
