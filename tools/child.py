"""A function in a process of its own: `python tools/child.py reliability.kills make` calls `make` of that module.

It gets keywords as JSON from the input; what it returns is the last line of the output, as JSON. For the modules of
`reliability` the extension is registered in Blender.
"""

import importlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


def start(name: str, function: str, keywords: dict[str, Any], **options: Any) -> "subprocess.Popen[str]":
    """Start it; its output can be read."""
    words = [sys.executable, str(Path(__file__).resolve()), name, function]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace", **options
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(keywords))
    process.stdin.close()
    return process


class Lines:
    """The lines of a process as they come."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, file: Any) -> None:
        with file:
            for line in file:
                self._lines.put(line.strip())
        self._lines.put(None)

    def next(self, seconds: float | None = None) -> str | None:
        """The next line, None at the end; raises `queue.Empty` if there is none for so long [s]."""
        return self._lines.get(timeout=seconds and max(seconds, 1e-3))


def call(
    name: str, function: str, seconds: float | None = None, env: dict[str, str] | None = None, **keywords: Any
) -> Any:
    """Run it to its end, in an environment; what the function returned.

    Raises `RuntimeError` with the end of its output, or where there is no line for so long [s].
    """
    process = start(name, function, keywords, stderr=subprocess.STDOUT, env=env)
    coming, lines = Lines(process), list[str]()
    try:
        while (line := coming.next(seconds)) is not None:
            lines.append(line)
    except queue.Empty:
        process.kill()
        raise RuntimeError(f"{name}: {function} did not end within {seconds:.0f} s") from None
    if code := process.wait():
        raise RuntimeError(f"{name}: {function} ended with code {code}: {' / '.join(lines[-12:])}")
    return json.loads(lines[-1])


def most_memory() -> float:
    """The most memory this process ever had [MB]; 0 on Windows, which does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)


def memory() -> float:
    """Memory of this process [MB]; where the system does not tell, the most it ever had."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages.exists() else most_memory()


def say(text: str) -> None:
    """A line of output at once."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))
    import extension

    extension.load()
    if sys.argv[1].startswith("reliability."):
        importlib.import_module("softpressure_ext").register()
    function = getattr(importlib.import_module(f"softpressure_ext.{sys.argv[1]}"), sys.argv[2])
    say(json.dumps(function(**json.load(sys.stdin))))
    os._exit(0)  # Blender as a module may crash while Python shuts down
