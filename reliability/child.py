"""A process of its own with Blender and the extension: `python child.py MODULE FUNCTION` calls a function of this folder.

It gets keywords as JSON from the input; what it returns is the last line of the output, as JSON.
"""

import importlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def command(name, function):
    """The words that start it."""
    return [sys.executable, str(Path(__file__).resolve()), name, function]


def start(name, function, keywords, **options):
    """Start it; its output can be read."""
    process = subprocess.Popen(
        command(name, function), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace", **options
    )
    process.stdin.write(json.dumps(keywords))
    process.stdin.close()
    return process


class Lines:
    """The lines of a process as they come."""

    def __init__(self, process):
        self._lines = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, file):
        with file:
            for line in file:
                self._lines.put(line.strip())
        self._lines.put(None)

    def next(self, seconds):
        """The next line, None at the end; raises `queue.Empty` if there is none for so long [s]."""
        return self._lines.get(timeout=max(seconds, 1e-3))


def call(name, function, **keywords):
    """Run it to its end; what the function returned. Raises `RuntimeError` with the end of its output."""
    process = start(name, function, keywords, stderr=subprocess.STDOUT)
    with process.stdout as output:
        lines = output.read().splitlines()
    code = process.wait()
    if code:
        raise RuntimeError(f"{name}: {function} ended with code {code}: {' / '.join(lines[-12:])}")
    return json.loads(lines[-1])


def say(text):
    """A line of output at once."""
    print(text, flush=True)


def load():
    """Load the extension and register it in Blender."""
    sys.path += [str(ROOT / "tests" / "support")]
    import extension

    extension.load()
    importlib.import_module("softpressure_ext").register()


if __name__ == "__main__":
    keywords = json.load(sys.stdin)
    load()
    said = getattr(importlib.import_module(f"softpressure_ext.reliability.{sys.argv[1]}"), sys.argv[2])(**keywords)
    say(json.dumps(said))
    os._exit(0)  # Blender as a module may crash while Python shuts down
