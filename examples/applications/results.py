"""What came of running the applications: as JSON lines, one for each, and as tables of docs/applications.md."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from answers import verdict
from configurations import NATIVE, Configuration
from registry import Application
from runs import Run

from swapmeet.errors import SwapmeetError
from swapmeet.tables import between

Record = Mapping[str, Any]
BEGIN, END = "<!-- made by `make apps`: begin -->\n", "<!-- end -->\n"


def record(application: Application, mpi: str, runs: Sequence[tuple[Configuration, Run]]) -> Record:
    """A line of results: each run compared with the first, which is without the library."""
    plain = runs[0][1]
    entries = []
    for configuration, run in runs:
        same, how = verdict(plain.answer, run.answer, application.tolerance)
        entries.append(
            {
                "configuration": configuration.name,
                "with_library": configuration.algorithm is not None,
                "same": same,
                "verdict": how,
                "seconds": round(run.seconds, 1),
                "calls": tally(run.calls),
            }
        )
    return {**description(application), "mpi": mpi, "answer_bytes": len(plain.answer), "runs": entries}


def left_out(application: Application, why: str) -> Record:
    """A line of results of an application that was not run."""
    return {**description(application), "left_out": why}


def description(application: Application) -> Record:
    """What is run."""
    return {
        "application": application.folder.name,
        "name": application.name,
        "about": application.about,
        "version": application.version(),
        "ranks": application.ranks,
        "command": " ".join(application.command),
        "why": application.why,
    }


def tally(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """By collective: calls, those that an algorithm of ours served, bytes sent, and the classes of mean blocks."""
    found: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"calls": 0, "served": 0, "bytes_sent": 0})
    for row in rows:
        entry = found[row["collective"]]
        entry["calls"] += row["calls"]
        entry["served"] += row["calls"] if row["algorithm"] != "native" else 0
        entry["bytes_sent"] += row["bytes_sent"]
        sizes = [int(least) for least, calls in row["calls_by_mean_block"].items() if calls]
        entry["smallest_block"] = min([entry.get("smallest_block", sizes[0]), *sizes])
        entry["largest_block"] = max([entry.get("largest_block", sizes[0]), *sizes])
    return dict(found)


def read(file: Path) -> list[Record]:
    """All lines; none if there is no such file."""
    if not file.exists():
        return []
    try:
        return [json.loads(line) for line in file.read_text().splitlines()]
    except ValueError as problem:
        raise SwapmeetError(f"{file}: {problem}") from None


def write(file: Path, record: Record) -> None:
    """Write a line in place of that of the same application; ordered by application."""
    new = {one["application"]: one for one in [*read(file), record]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(new[name]) + "\n" for name in sorted(new)))


def all_right(record: Record) -> bool:
    """Whether every answer is the same; also of an application that was left out."""
    return all(entry["same"] for entry in record.get("runs", []))


def calls_text(calls: Mapping[str, Mapping[str, int]]) -> str:
    """As in `364 Alltoall of 64 B to 8 KiB`: sizes are classes of mean blocks, from a power of two on."""
    texts = [
        f"{entry['calls']} {name} of {_bytes(entry['smallest_block'])} to {_bytes(entry['largest_block'])}"
        for name, entry in calls.items()
    ]
    return "; ".join(texts) or "none"


def _bytes(count: int) -> str:
    for unit, scale in (("MiB", 2**20), ("KiB", 2**10)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


def markdown(records: Sequence[Record]) -> str:
    """Three tables: what was run, whether answers are the same, and what was left out."""
    run = [record for record in records if "runs" in record]
    lines = [
        "| application | version | command, on 4 ranks | all-to-alls of rank 0 | compared |",
        "|---|---|---|---|---|",
    ]
    for record in run:
        calls: Mapping[str, Any] = next((entry["calls"] for entry in record["runs"] if entry["with_library"]), {})
        cells = [f"{record['name']}: {record['about']}", record["version"], f"`{record['command']}`"]
        lines.append("| " + " | ".join([*cells, calls_text(calls), record["why"]]) + " |")
    all_names = (entry["configuration"] for record in run for entry in record["runs"])
    names = [name for name in dict.fromkeys(all_names) if name != NATIVE.name]
    lines += ["", "| answers the same? (calls served) | " + " | ".join(names) + " | seconds |"]
    lines.append("|---" * (len(names) + 2) + "|")
    for record in run:
        by_name = {entry["configuration"]: cell(entry) for entry in record["runs"]}
        cells = [by_name.get(name, "") for name in names]
        seconds = [entry["seconds"] for entry in record["runs"]]
        lines.append(f"| {record['name']} | " + " | ".join(cells) + f" | {min(seconds):.0f} to {max(seconds):.0f} |")
    absent = [record for record in records if "left_out" in record]
    if absent:
        lines += ["", "| left out | why |", "|---|---|"]
        lines += [f"| {record['name']}: {record['about']} | {record['left_out']} |" for record in absent]
    return "\n".join(lines) + "\n"


def cell(entry: Mapping[str, Any]) -> str:
    """Of one run: `yes (384)`."""
    answer = "yes" if entry["verdict"] == "identical" else entry["verdict"]
    served = sum(calls["served"] for calls in entry["calls"].values())
    return f"{answer} ({served})" if entry["with_library"] else answer


def document(page: str, records: Sequence[Record]) -> str:
    """The page with its tables made anew."""
    return between(page, BEGIN, END, markdown(records))
