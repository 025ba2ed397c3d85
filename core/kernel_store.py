"""Machine code of the kernels in files: shipped with the extension, or kept in a folder of the user.

numba's own cache depends on settings that all extensions of a Blender share, and its files contain the package's name
but not the kernels that a kernel calls. This one changes no setting. A file's name has a digest of all that its code
depends on, so no index is needed: the sources of the kernel's module and of the modules it imports, the types of the
arguments, Python, numba and the target processor. The target is the family x86-64-v3 (AVX2 and FMA, PCs since about
2015) or Apple's M1 where this machine belongs to it, so that machines of a family share files and bits.
`NUMBA_CPU_NAME` sets another one.
"""

import contextlib
import functools
import hashlib
import io
import pickle
import re
import sys
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core import compiler, environment, serialize, sigutils
from numba.core.caching import _Cache
from numba.core.runtime import rtsys

from .garbage import without_collection

#: What a processor must have to run the code of a family, by the machine's architecture.
_FAMILIES = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    "arm64": ("apple-m1", ()),
}
#: Of the files; to be raised when `KernelStore` writes them in another way.
_FORMAT = 1
#: What the package was called when a file was written stands in it, in place of this at the start of module names.
_PACKAGE = __package__ or ""
_ROOT = Path(__file__).resolve().parent
#: Kernels that came with this package; not there in a checkout.
SHIPPED = _ROOT / "compiled"

#: Set by `use_folder`.
_user_folder: Path | None = None
#: Names whose marks were found: looking again takes as long as simulating a small body.
_found: set[str] = set()


def use_folder(folder: Path) -> None:
    """Store compiled kernels in this folder from now on."""
    global _user_folder
    _user_folder = folder
    _found.clear()


def user_folder() -> Path:
    """Folder of compiled kernels: that of `use_folder`, else numba's cache folder, else one beside this file."""
    return _user_folder or Path(numba.config.CACHE_DIR or _ROOT / "__pycache__") / "softpressure"


@functools.cache
def target() -> tuple[str, str]:
    """Target processor and features of kernels, as `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES`."""
    if numba.config.CPU_NAME:
        return numba.config.CPU_NAME, numba.config.CPU_FEATURES or ""
    found = llvmlite.binding.get_host_cpu_features()
    family, features = _FAMILIES.get(llvmlite.binding.get_process_triple().split("-")[0], ("", ("",)))
    if all(found.get(feature) for feature in features):
        return family, ""
    return llvmlite.binding.get_host_cpu_name(), found.flatten()


def folders() -> tuple[Path, Path]:
    """Folders of kernels for this Python, numba and target: the shipped ones, and the user's."""
    return SHIPPED / _tag(*target()), user_folder() / _tag(*target())


def is_marked(name: str) -> bool:
    """Whether `mark` was called with this name for these sources, here or where the kernels were shipped from."""
    if name not in _found and any((folder / _mark(name)).exists() for folder in folders()):
        _found.add(name)
    return name in _found


def mark(name: str) -> None:
    """Mark that all kernels of a job are in files, and delete the files of other sources."""
    folder = folders()[1]
    with contextlib.suppress(OSError):  # then the next start finds no mark, and looks again
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _mark(name)).touch()
        for path in folder.iterdir():
            if _is_stale(path.name):
                path.unlink()


def source_digest(files: Iterable[str]) -> str:
    """A name for the contents of these sources, given by their paths below this folder."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(files):
        digest.update(f"{file}\0".encode() + _content(file)[0])
    return digest.hexdigest()


@functools.cache
def sources_of(file: str) -> frozenset[str]:
    """A source of this package and all that it imports, directly or not, as paths below this folder.

    Without this one, as how machine code is kept does not change it, and without `parameters/`: Python alone reads it.
    """
    found, left = set[str](), [file]
    while left:
        if (here := left.pop()) not in found:
            found.add(here)
            left += _content(here)[1]
    return frozenset(file for file in found - {Path(__file__).name} if not file.startswith("parameters/"))


class KernelStore(_Cache):  # type: ignore[misc]
    """numba's cache interface for the machine code of one function of this package."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._file = function.__module__.removeprefix(f"{_PACKAGE}.").replace(".", "/") + ".py"
        self._name = function.__module__.removeprefix(f"{_PACKAGE}.") + "." + function.__qualname__
        _content(self._file)  # as it is now: it may be edited before it is compiled

    @property
    def cache_path(self) -> str:
        """The folder that new files go to."""
        return str(folders()[1])

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for the types of a signature, None if no file has it."""
        rtsys.initialize(target_context)  # all of its `refresh` that machine code needs; the rest is for the compiler
        name = self._file_name(sig)
        for folder in (*folders(), self._own_folder(target_context.codegen())):
            with contextlib.suppress(OSError):
                content = (folder / name).read_bytes()
                with without_collection():
                    try:
                        package, payload = pickle.loads(content)
                        reduced = _Loader(payload, package).load()
                    except (EOFError, pickle.UnpicklingError, ValueError):  # not whole: compiled and written again
                        continue
                    return compiler.CompileResult._rebuild(target_context, *reduced)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function; where that fails it is compiled in every process."""
        if data.library.has_dynamic_globals or data.lifted:
            raise TypeError(f"{self._name}: cannot be kept in a file, it refers to objects of this process.")
        if hasattr(data.signature.return_type, "instance_class"):
            raise TypeError(f"{self._name}: cannot be kept in a file, it names a class. Return a plain tuple.")
        content = pickle.dumps((_PACKAGE, serialize.dumps(data._reduce())))
        path = self._own_folder(data.library.codegen) / self._file_name(sig)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{uuid.uuid4().hex[:8]}")
            part.write_bytes(content)
            part.replace(path)

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """Old files are dropped by `mark`."""

    def _file_name(self, sig: Any) -> str:
        arguments, _ = sigutils.normalize_signature(sig)
        kinds = "".join(_described(kind) for kind in arguments)
        digest = hashlib.blake2b(kinds.encode(), digest_size=8).hexdigest()
        return f"{self._name}-{source_digest(sources_of(self._file))}-{digest}.kernel"

    @staticmethod
    def _own_folder(codegen: Any) -> Path:
        """Of what this process compiles itself, for which numba's settings hold."""
        _, processor, features = codegen.magic_tuple()
        return user_folder() / _tag(processor, features)


class _Loader(pickle.Unpickler):
    """Reads what another process wrote, in which this package may have had another name."""

    def __init__(self, payload: bytes, package: str) -> None:
        super().__init__(io.BytesIO(payload))
        self._package = package

    def find_class(self, module: str, name: str) -> Any:
        """Called for each class and function."""
        found = super().find_class(self._renamed(module), name)
        return self._rebuild_environment if found is environment._rebuild_env else found

    def _renamed(self, module: str) -> str:
        is_ours = module == self._package or module.startswith(f"{self._package}.")
        return _PACKAGE + module.removeprefix(self._package) if is_ours else module

    def _rebuild_environment(self, module: str, *rest: Any) -> Any:
        return environment._rebuild_env(self._renamed(module), *rest)


def _described(kind: Any) -> str:
    """A type of numba with all that code for it depends on: the names of a tuple's fields are not in its own name."""
    members = getattr(kind, "types", None)  # of a tuple
    if members is None:
        return f"{kind};"
    if hasattr(kind, "fields"):
        return f"{kind.instance_class.__name__}({kind.fields}: {''.join(map(_described, members))})"
    return f"({''.join(map(_described, members))})"


def _tag(processor: str, features: str) -> str:
    """Name of the folder for a target, in this Python with this numba."""
    more = "-" + hashlib.blake2b(features.encode(), digest_size=4).hexdigest() if features else ""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-numba{numba.__version__}-{processor}{more}-{_FORMAT}"


@functools.cache
def _mark(name: str) -> str:
    return f"{name}-{source_digest(path.relative_to(_ROOT).as_posix() for path in _ROOT.rglob('*.py'))}.ready"


def _is_stale(name: str) -> bool:
    """Whether a file of the user's folder is of other sources than these."""
    if name.endswith(".ready"):
        return name != _mark(name.rsplit("-", 1)[0])
    if not name.endswith(".kernel"):
        return False
    kernel, digest, _ = name.rsplit("-", 2)
    try:
        return source_digest(sources_of(kernel.rsplit(".", 1)[0].replace(".", "/") + ".py")) != digest
    except FileNotFoundError:
        return True


_IMPORT = re.compile(rb"^from (\.+)([\w.]*) import (\([^)]*\)|[^#\n]*)", re.MULTILINE)


@functools.cache
def _content(file: str) -> tuple[bytes, list[str]]:
    """Digest of a source, and the sources that it imports by name."""
    text = (_ROOT / file).read_bytes().replace(b"\r\n", b"\n")
    imports = list[str]()
    for dots, module, names in _IMPORT.findall(text):
        place = (_ROOT / file).parents[len(dots) - 1]
        if _ROOT not in (place, *place.parents):
            continue
        base = place.joinpath(*module.decode().split(".")) if module else place
        found = [base.with_suffix(".py"), base / "__init__.py"]
        found += [base / f"{name}.py" for name in re.findall(r"\w+", names.decode())]
        imports += [path.relative_to(_ROOT).as_posix() for path in found if path.is_file()]
    return hashlib.blake2b(text, digest_size=16).digest(), imports
