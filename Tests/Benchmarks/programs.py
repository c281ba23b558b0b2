"""The benchmarks' own C programs, compiled where they are missing or older than their source."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / ".build" / "benchmarks"
SOURCES = {
    "bare": (["bare.c"], ["-lcrypto"]),
    "crowd": (["crowd.c", "client.c", "publisher.c", "samples.c", "usage.c"], []),
    "load": (["load.c", "samples.c"], []),
    "tls_crowd": (["tls_crowd.c"], ["-lssl", "-lcrypto"]),
}


def program(name: str) -> Path:
    sources, libraries = SOURCES[name]
    made = FOLDER / name
    newest = max(path.stat().st_mtime for path in [*HERE.glob("*.h"), *(HERE / source for source in sources)])
    if not made.exists() or made.stat().st_mtime < newest:
        compiler = shutil.which("gcc") or shutil.which("cc") or sys.exit("a C compiler is needed: gcc, libc6-dev")
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, *(HERE / source for source in sources),
             *libraries], check=True)
    return made
