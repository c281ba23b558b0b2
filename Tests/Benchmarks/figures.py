"""Figures of several rounds."""

import statistics


def spread(values) -> dict:
    values = list(values)
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def ratios(rounds: list[dict], name: str, to: str, figure: str) -> dict | None:
    """A figure of one contestant divided by another's of the same round; None when no round has both."""
    values = [
        round[name][figure] / round[to][figure] for round in rounds
        if name in round and to in round and round[to].get(figure) and figure in round[name]]
    return spread(values) | {"rounds": len(values)} if values else None


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)
