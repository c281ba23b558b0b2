"""A wall clock of our own for one process, by Debian's `faketime`; its other clocks stay real."""

import os
from pathlib import Path

from timer_server import Server


class WallClock:
    def __init__(self, folder: Path):
        self.file = folder / "wall-clock"
        self.move(0)

    def server(self, data: Path) -> Server:
        """The library hides the arguments of the first program into which it is loaded, so that program is `env`."""
        libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        assert libraries, "Debian's package `faketime` is needed"
        environment = {
            "LD_PRELOAD": str(libraries[0]), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
        return Server(data, environment=environment, launcher=("/usr/bin/env",))

    def move(self, seconds: int) -> None:
        """Sets the wall clock `seconds` off the real one."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        os.replace(fresh, self.file)

    @staticmethod
    def clean_up(server: Server) -> None:
        """Removes the files that the library leaves when its process is killed."""
        for process_id in server.process_ids:
            for path in Path("/dev/shm").glob(f"*faketime_*_{process_id}"):
                path.unlink()
