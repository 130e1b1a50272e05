"""A profile in words and tables, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.statistics import Estimate, verdict
from swapmeet.measure.bench.table import COLOURS
from swapmeet.measure.profiling.exchanges import Distinct, Found
from swapmeet.measure.profiling.recording import Recording
from swapmeet.measure.profiling.replay import Gain, Replay
from swapmeet.measure.profiling.summary import Row
from swapmeet.tables import right
from swapmeet.units import short_duration, size_text

SCHEMA = 1  #: of the JSON
WORTH = 0.01  #: of the run time; less is not worth a setting
MOST_EXCHANGES = 20  #: shown of those that were replayed


def share(part: float, whole: float) -> str:
    """In percent."""
    return f"{100 * part / whole:.3g} %" if whole else "–"


def heading(recording: Recording, found: Found) -> Iterator[str]:
    """Print what was recorded, and what is missing."""
    run, inside = recording.run_seconds, found.total / max(1, len(recording.files))
    hosts = len({file.header.host for file in recording.files.values()})
    where = "" if hosts <= 1 else f" on {hosts} hosts"
    algorithms = sorted({file.header.algorithm for file in recording.files.values()})
    how = "" if algorithms == [NATIVE] else f", by SWAPMEET_ALGORITHM={' or '.join(algorithms)}"
    yield f"{recording.ranks} ranks{where}, {recording.mpi}{how}"
    yield (
        f"run time {short_duration(run)} (from the start of the processes to MPI_Finalize, mean of ranks); "
        f"in all-to-alls {short_duration(inside)} of a rank: {share(inside, run)}"
    )
    for problem in recording.problems:
        yield f"note: {problem}"


def summary_table(rows: list[Row], recording: Recording) -> Table:
    """What the application did."""
    sums = right("number", "calls", "block: least/median/most", "sent by a rank", "imbalance: ranks/blocks")
    times = right("time of a rank", "of run", "waiting: apart/of time")
    table = Table("communicators", "collective", *sums, *times, title="All-to-alls", title_justify="left")
    run, ranks = recording.run_seconds, max(1, len(recording.files))
    for row in rows:
        sizes = "/".join(size_text(row.quantile(q)) for q in (0, 0.5, 1)) if row.sizes else "not described"
        sent = size_text(row.bytes / ranks) if row.sizes else "–"
        imbalance = "–"
        if row.rank_imbalance is not None and row.block_imbalance is not None:
            imbalance = f"{row.rank_imbalance:.2f} / {row.block_imbalance:.2f}"
        waiting = "–"
        if row.waiting:
            waiting = (
                f"{'' if row.waiting.clocks else '~'}{short_duration(row.waiting.spread)} / {row.waiting.share:.0%}"
            )
        spent = row.rank_seconds / ranks
        table.add_row(
            escape(str(row.kind)), f"MPI_{row.kind.collective.capitalize()}", str(row.communicators), str(row.calls),
            sizes, sent, imbalance, short_duration(spent), share(spent, run), waiting,
        )  # fmt: skip
    return table


def histogram_table(rows: list[Row]) -> Table:
    """The sizes of blocks."""
    columns = ("communicators", "collective", "share of the blocks, by size")
    table = Table(*columns, title="Sizes of blocks", title_justify="left")
    for row in rows:
        if len(row.sizes) > 1:
            classes = row.histogram().items()
            text = "  ".join(
                f"{_class(least)}: {part:.0%}" if part >= 0.005 else f"{_class(least)}: <1%" for least, part in classes
            )
            table.add_row(escape(str(row.kind)), f"MPI_{row.kind.collective.capitalize()}", text)
    return table


def _class(least: int) -> str:
    return size_text(least) if least < 2 else f"{size_text(least)}–{size_text(2 * least)}"


def exchange_name(one: Distinct) -> str:
    """Collective, sizes and ranks in a few words."""
    if isinstance(one.bytes, int):
        sizes = f"of {size_text(one.bytes)}"
    else:
        least, most, mean = int(one.bytes.min()), int(one.bytes.max()), float(np.mean(one.bytes))
        sizes = f"of {size_text(least)} to {size_text(most)} (mean {size_text(mean)})"
    flags = "".join([", in place" if one.in_place else "", ", derived type" if one.derived else ""])
    return f"{one.collective} {sizes}, P = {one.ranks}{flags}"


def replay_table(replay: Replay) -> Table:
    """What was replayed."""
    known, found = right("calls", "recorded", "native"), right("takes", "times faster (95 %)")
    title = "Replayed, most expensive first"
    table = Table(
        "exchange", *known, "fastest candidate", *found, "", *right("saves a run"), title=title, title_justify="left"
    )
    for one in replay.replayed[:MOST_EXCHANGES]:
        row = [exchange_name(one.exchange), f"{one.exchange.calls:.0f}", short_duration(one.exchange.call_seconds)]
        row += [short_duration(one.native.value)]
        if one.candidates:
            spec = max(one.candidates, key=lambda spec: one.candidates[spec][1].value)
            takes, faster = one.candidates[spec]
            word = verdict(faster)
            colour = COLOURS[word]
            row += [
                escape(spec),
                short_duration(takes.value),
                _estimate(faster),
                f"[{colour}]{word}[/]" if colour else word,
            ]
            row += [short_duration(one.gain(one.best).value) if one.best != NATIVE else "nothing"]
        else:
            row += ["none could run", "", "", "", "nothing"]
        table.add_row(*row)
    return table


def _estimate(estimate: Estimate) -> str:
    high = f"{estimate.high:.2f}" if math.isfinite(estimate.high) else "?"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {high})"


def gain_table(replay: Replay, recording: Recording) -> Table:
    """What each candidate would save of a run."""
    run = recording.run_seconds
    title = "Saved of a run, if SWAPMEET_ALGORITHM is set for all of it"
    gains = right("seconds (95 %)", "of run time")
    table = Table("SWAPMEET_ALGORITHM", *gains, title=title, title_justify="left")
    for spec, gain in replay.by_spec().items():
        table.add_row(escape(spec), interval(gain), share(gain.value, run))
    table.add_section()
    best = replay.best_of_each
    table.add_row("(the best for each exchange)", interval(best), share(best.value, run))
    return table


def interval(gain: Gain) -> str:
    """A gain with its interval; "?" where samples do not show it."""
    low, high = (f"{bound:.3g}" if math.isfinite(bound) else "?" for bound in (gain.low, gain.high))
    return f"{gain.value:.3g} ({low} to {high})"


def coverage(found: Found, replay: Replay) -> Iterator[str]:
    """Print what was not replayed."""
    covered = sum(one.exchange.rank_seconds for one in replay.replayed)
    yield f"replayed: {share(covered, found.total)} of the time in all-to-alls, in {len(replay.replayed)} exchanges"
    if replay.replayed:
        again = sum(one.native.value * one.exchange.calls * one.exchange.ranks for one in replay.replayed)
        yield (
            f"the host MPI took {share(again, covered)} of their recorded time in the replay"
            + (
                "; the rest was waiting for late ranks or a core, or setting up, which a replay does not show"
                if again < covered
                else ""
            )
        )
    for why, seconds in sorted(replay.left.items(), key=lambda item: -item[1]):
        yield f"not replayed: {share(seconds, found.total)}: {why}"
    for note in replay.notes:
        yield f"note: {note}"


def assumptions(recording: Recording, replay: Replay, here: str) -> Iterator[str]:
    """Print what a replay does not know."""
    yield (
        "A replay is not the run: its ranks arrive together, its buffers are warm, and nothing else is going on (other "
        "communicators are idle)."
    )
    hosts = {file.header.host for file in recording.files.values()}
    if hosts - {here}:
        more = ", ..." if len(hosts) > 4 else ""
        yield f"It was recorded on {', '.join(sorted(hosts)[:4])}{more} and replayed on {here}."
    if any(one.exchange.in_place for one in replay.replayed):
        yield "Calls in place were replayed with two buffers."
    if any(one.exchange.derived for one in replay.replayed):
        yield "Derived datatypes were replayed as doubles with gaps between them, or as bytes where that cannot be."


def advice(recording: Recording, found: Found, replay: Replay) -> str:
    """What to do, in a sentence."""
    run, inside = recording.run_seconds, found.total / max(1, len(recording.files))
    gains = {spec: gain for spec, gain in replay.by_spec().items() if spec != NATIVE}
    if not gains:
        return "Nothing to recommend: no candidate could be compared."
    sure = {spec: gain for spec, gain in gains.items() if gain.low > 0}
    spec, gain = next(iter((sure or gains).items()))
    much = f"{interval(gain)} s of {short_duration(run)}, {share(gain.value, run)} of the run"
    if not gain.high >= WORTH * run:
        return (
            f"Not worth it: of the candidates, {spec} is best, and would save {much} (all-to-alls take "
            f"{share(inside, run)} of it)."
        )
    if not sure:
        return (
            f"Not decided: of the candidates, {spec} looks best, and would save {much}, which cannot be told from "
            "noise; a larger --budget or a quieter machine may decide."
        )
    if gain.value < WORTH * run:
        return f"Hardly worth it: the best candidate, {spec}, would save {much}."
    setting = "`swapmeet run` without a setting (auto)" if spec == AUTO else f"SWAPMEET_ALGORITHM='{spec}'"
    return f"Worth it: {setting} would save {much}, by this replay; compare whole runs to be sure."


def as_json(recording: Recording, found: Found, rows: list[Row], replay: Replay | None) -> dict[str, Any]:
    """Everything, for other programs (docs/json.md)."""
    ranks = max(1, len(recording.files))
    page: dict[str, Any] = {
        "swapmeet_profile": SCHEMA,
        "ranks": recording.ranks,
        "ranks_recorded": sorted(recording.files),
        "mpi": recording.mpi,
        "run_seconds": recording.run_seconds,
        "all_to_all_seconds": found.total / ranks,
        "problems": recording.problems,
        "kinds": [_row_json(row, ranks) for row in rows],
        "exchanges": [_exchange_json(one) for one in found.distinct],
    }
    if replay:
        page["replayed"] = [
            {
                **_exchange_json(one.exchange),
                "native": one.native.record(),
                "candidates": {
                    spec: {
                        "seconds": takes.record(),
                        "times_faster": faster.record(),
                        "saves": _gain_json(one.gain(spec)),
                    }
                    for spec, (takes, faster) in one.candidates.items()
                },
                "best": one.best,
            }
            for one in replay.replayed
        ]
        page["not_replayed_rank_seconds"] = replay.left
        page["saved_seconds"] = {spec: _gain_json(gain) for spec, gain in replay.by_spec().items()}
        page["notes"] = replay.notes
        page["advice"] = advice(recording, found, replay)
    return page


def _row_json(row: Row, ranks: int) -> dict[str, Any]:
    return {
        "ranks": row.kind.ranks,
        "intercommunicator": row.kind.inter,
        "name": row.kind.name,
        "collective": row.kind.collective,
        "communicators": row.communicators,
        "calls": row.calls,
        "bytes": row.bytes,
        "seconds": row.rank_seconds / ranks,
        "block_bytes": [row.quantile(q) for q in (0, 0.5, 1)] if row.sizes else None,
        "blocks_by_least_bytes": {str(least): part for least, part in row.histogram().items()},
        "calls_undescribed": row.undescribed,
        "rank_imbalance": row.rank_imbalance,
        "block_imbalance": row.block_imbalance,
        "waiting": row.waiting
        and {"apart_seconds": row.waiting.spread, "share": row.waiting.share, "clocks": row.waiting.clocks},
    }


def _exchange_json(one: Distinct) -> dict[str, Any]:
    sizes: Any = one.bytes
    if not isinstance(one.bytes, int):
        matrix = one.bytes
        sizes = {"least": int(matrix.min()), "mean": float(matrix.mean()), "most": int(matrix.max())}
    return {
        "ranks": one.ranks,
        "collective": one.collective,
        "bytes": sizes,
        "in_place": one.in_place,
        "derived": one.derived,
        "communicators": one.communicators,
        "calls": one.calls,
        "rank_seconds": one.rank_seconds,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _gain_json(gain: Gain) -> dict[str, Any]:
    return {"value": gain.value, "low": _finite(gain.low), "high": _finite(gain.high)}
