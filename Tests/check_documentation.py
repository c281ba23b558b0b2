#!/usr/bin/env python3
"""Builds the symbol graphs of the libraries from built modules, and checks that every public name has a comment.

    check_documentation.py FOLDER-OF-MODULES

Exits with 1 when a graph builds with a warning, or when a name of the in-app libraries has no comment.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Of these types, the ones that programs outside of this package see; None: all of a module.
LIBRARIES = {
    "PersistableTimer": None,
    "TimerStorage": {
        "JSONFileStore",
        "StorageKey",
        "StorageError",
        "DiskError",
        "TinyStorage",
        "TinyStorageKey",
        "String",
    },
    "TimerCore": {"PausePeriod", "RestoreTimerData", "RestoreType", "TimerState", "TimerStatus"},
}
# The compiler writes these, or another module's protocol explains them.
UNDERSTOOD = {"hash(into:)", "==(_:_:)", "<(_:_:)", "encode(to:)", "init(from:)", "init(rawValue:)", "description"}


def graph(module: str, modules: Path, target: str, output: Path) -> tuple[list[dict], str]:
    command = [
        "swift", "symbolgraph-extract", "-module-name", module, "-I", str(modules), "-target", target,
        "-minimum-access-level", "public", "-skip-inherited-docs", "-output-dir", str(output)]
    for build in modules.parent.glob("*.build"):
        if (build / "module.modulemap").exists():
            command += ["-Xcc", f"-fmodule-map-file={build / 'module.modulemap'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip()
    if done.returncode:
        return [], said or f"ended with {done.returncode}"
    symbols = []
    for file in [output / f"{module}.symbols.json", *output.glob(f"{module}@*.symbols.json")]:
        symbols += json.loads(file.read_text())["symbols"]
    return symbols, said if "warning" in said or "error" in said else ""


def is_silent(symbol: dict, types: set[str] | None) -> bool:
    path = symbol["pathComponents"]
    ours = types is None or path[0] in types
    written = "::SYNTHESIZED::" not in symbol["identifier"]["precise"] and "location" in symbol
    return ours and written and path[-1] not in UNDERSTOOD and not symbol.get("docComment")


def main() -> int:
    modules = Path(sys.argv[1])
    target = json.loads(subprocess.run(
        ["swift", "-print-target-info"], capture_output=True, text=True, check=True).stdout)["target"]["triple"]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for module, types in LIBRARIES.items():
            symbols, said = graph(module, modules, target, Path(folder))
            if said:
                print(f"{module}: {said}")
                faults += 1
            for symbol in symbols:
                if is_silent(symbol, types):
                    print(f"{module}: {'.'.join(symbol['pathComponents'])} has no comment")
                    faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
