"""Drives crowd.c: sends its commands and reads its answers."""

import json

import processes
from programs import program


class Crowd:
    """Clients of one server. Every answer is the JSON that crowd.c prints, as a dictionary."""

    def __init__(self, port: int, core: int | None, server_processes: list[int]):
        self.process = processes.start([program("crowd"), port], core)
        self.server_is(server_processes)

    def server_is(self, server_processes: list[int]) -> dict:
        return self.tell("processes", *server_processes)

    def open(self, count: int, ready: int, greeting: str = "", at_once: int = 64, path: str = "/ws") -> dict:
        answer = self.tell("open", count, at_once, ready, path, greeting)
        answer["opened"] = count - answer["gone"]
        return answer

    def say(self, ready: int, message: str) -> dict:
        return self.tell("tell", ready, message)

    def watch(self, seconds: float, quiet: float = 0, gap: float = 0, publications: float = 0) -> dict:
        return self.tell("watch", seconds, quiet, gap, publications)

    def ask(self, count: int, seconds: float, message: str) -> dict:
        return self.tell("ask", count, seconds, message)

    def drive(self, seconds: float, ahead: int, messages: tuple[str, str]) -> dict:
        return self.tell("drive", seconds, ahead, "|".join(messages))

    def publish(self, path: str, count: int) -> dict:
        return self.tell("publisher", path, count)

    def leave(self, count: int) -> dict:
        return self.tell("leave", count)

    def tell(self, *words) -> dict:
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the crowd ended at {' '.join(map(str, words))[:80]!r}")
        return json.loads(answer)

    def end(self) -> None:
        processes.end(self.process)
