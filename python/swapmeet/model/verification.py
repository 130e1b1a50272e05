"""Verifying specs for many numbers of ranks: `swapmeet verify`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from swapmeet import _core
from swapmeet.model import memory
from swapmeet.specs import ranges_text

Progress = Callable[[int, float], None]  #: (ranks, fraction of this verification that is done)


@dataclass
class Report:
    """What was found out about one spec."""

    spec: _core.Spec
    proved: list[int] = field(default_factory=list)
    findings: list[tuple[int, list[str]]] = field(default_factory=list)  #: (ranks, what is wrong)
    skipped: dict[str, list[int]] = field(default_factory=dict)  #: reason -> ranks
    messages: int = 0
    seconds: float = 0.0
    nodes: str = ""  #: the node map, if one was given

    def lines(self) -> list[str]:
        """The report for people; its first line is enough if nothing is wrong."""
        verdict = f"proved for P = {ranges_text(self.proved)}" if self.proved else "proved for no P"
        where = f" on nodes {self.nodes}" if self.nodes else ""
        lines = [f"{self.spec}{where}: {verdict} ({self.messages:,} messages, {self.seconds:.1f} s)"]
        for ranks, findings in self.findings:
            lines += [f"  P = {ranks}: NOT PROVED: {finding}" for finding in findings]
        lines += [f"  skipped P = {ranges_text(ranks)}: {reason}" for reason, ranks in self.skipped.items()]
        return lines

    def record(self) -> dict[str, object]:
        """The same for other programs."""
        return {
            "spec": str(self.spec),
            "nodes": self.nodes,
            "proved_ranks": self.proved,
            "not_proved": [{"ranks": ranks, "findings": findings} for ranks, findings in self.findings],
            "skipped": [{"reason": reason, "ranks": ranks} for reason, ranks in self.skipped.items()],
            "messages": self.messages,
            "seconds": self.seconds,
        }


def require_memory(ranks: int) -> None:
    """Refuse a verification that would not fit into memory.

    Raises
    ------
    SwapmeetError
        With the largest number of ranks that fits.
    """
    need = _core.verify_memory_bytes(1) * ranks * ranks  # of pairs; of many ranks more than 64 bits hold
    memory.require(f"verifying P = {ranks}", need, ranks, 2)


def verify(spec: _core.Spec, ranks: Sequence[int], progress: Progress, nodes: str = "") -> Report:
    """Verify `spec` for each number of ranks that it can serve, placed by the node map. Ctrl-C stops it at once."""
    report = Report(spec, nodes=nodes)
    begin = time.monotonic()
    for p in ranks:
        reason = spec.unsuitable(p, nodes)
        if reason:
            report.skipped.setdefault(_without_number(reason, p), []).append(p)
            continue
        verdict = _verify_in_background(spec, p, progress, nodes)
        report.messages += verdict.messages
        findings = verdict.findings or _overfull(spec, p, nodes)
        if findings:
            report.findings.append((p, findings))
        else:
            report.proved.append(p)
    report.seconds = time.monotonic() - begin
    return report


def _overfull(spec: _core.Spec, ranks: int, nodes: str) -> list[str]:
    """What an order of the topology asks too much of, link by link and slot by slot; nothing of other orders."""
    if not dict(spec.parameters).get("order", "").startswith("topology"):
        return []
    found = _core.order_overfull(spec, ranks, nodes)
    return [found] if found else []


def _without_number(reason: str, ranks: int) -> str:
    """The part of the reason that all skipped numbers share."""
    return reason.removesuffix(f", not {ranks}")


def _verify_in_background(spec: _core.Spec, ranks: int, progress: Progress, nodes: str) -> _core.Verdict:
    """Verify in a thread, so that this one can be interrupted while the core works."""
    outcome: list[_core.Verdict | BaseException] = []
    stop = threading.Event()

    def work() -> None:
        def report(fraction: float) -> bool:
            progress(ranks, fraction)
            return not stop.is_set()

        try:
            outcome.append(_core.verify(spec, ranks, report, nodes))
        except BaseException as problem:
            outcome.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join()
    finally:
        stop.set()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
