"""Evidence for tests: what calls of 64 ranks took."""

from __future__ import annotations

from typing import Any

from swapmeet import _core

A2A, A2AV = _core.Collective.alltoall, _core.Collective.alltoallv
SPECS = ["native", "pairwise", "shared-memory", "tuna(r=2)", "two-layer(intra=shm,r1=all)", "direct(window=8)"]
DAY = 1767323045  #: 2026-01-02T03:04:05Z


def took(spec: str = "native", mean_us: float = 20.0, **other: Any) -> _core.Evidence:
    fields = {"collective": A2A, "ranks": 64, "nodes": 8, "per_node": (8, 8), "size_class": 6, "calls": 9} | other
    fields = {"spread_s": 0.01e-6 * mean_us, "date": DAY} | fields
    return _core.Evidence(spec=_core.parse_spec(spec), mean_s=mean_us / 1e6, **fields)


KEY = _core.MemoryKey("openmpi 5.0.11", "a processor, 64 cores, host nid#", "0.1.0")
PAIRWISE = str(_core.parse_spec("pairwise"))

GOOD = took("pairwise", 12.3).line
BAD = [
    ("mean_us=12.3", "mean_us=-1", "must be microseconds"),
    ("mean_us=12.3", "mean_us=nan", "must be microseconds"),
    ("mean_us=12.3", "mean_us=inf", "must be microseconds"),
    ("mean_us=12.3", "mean_us=1e300", "must be microseconds"),
    ("mean_us=12.3", "mean_us=0", "contradict"),
    ("mean_us=12.3", "mean_us=1e-300", "contradict"),
    ("mean_us=12.3", "", "here mean_us= is expected"),
    ("calls=9", "calls=0", "must be a number from 1 on"),
    ("calls=9", "calls=99999999999999999999", "must be a number from 1 on"),
    ("calls=9", "calls=9 calls=9", "here mean_us= is expected"),
    ("ranks=64", "ranks=1", "must be a number from 2 on"),
    ("ranks=64", "ranks=4294967298", "must be a number from 2 on"),
    ("nodes=8", "nodes=9", "contradict"),
    ("per-node=8", "per-node=8..7", "contradict"),
    ("per-node=8", "per-node=..", "must be ranks of a node"),
    ("bytes=64", "bytes=65", "must be a power of two"),
    ("bytes=64", "bytes=any", "contradict"),
    ("bytes=64", "bytes=-64", "must be a power of two"),
    ("use=", "use=nonsense", "use="),
    ("use=", "use=tuna(r=1)#", "use="),
    ("by=trial", "by=model", "must be calibration, trial or tune"),
    ("2026-01-02", "2026-02-30", "must be a time"),
    ("2026-01-02", "1999-01-02", "before the year 2000"),
    ("03:04:05", "33:04:05", "must be a time"),
    ("05Z", "05Z more", "here made= is expected"),
    ("05Z", "05Z made=0", "must be a number from 1 on"),
    ("05Z", "05Z made=9", "here program= is expected"),
    ("05Z", "05Z made=9 program=abc", "must be 16 hexadecimal digits"),
    ("05Z", "05Z made=9 program=+000000000000abc", "must be 16 hexadecimal digits"),
    ("05Z", "05Z made=9 program=0000000000000abc more", "more words"),
    ("alltoall ", "allreduce ", "it is of alltoall"),
    ("took:", "took", "must begin with took:"),
]
