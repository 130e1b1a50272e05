"""Compare the printed results of two pw.x runs byte for byte, leaving out times of day and durations.

    python compare.py plain.out swapmeet.out

Exit status: 0 equal, 1 different (the differing lines are shown), 2 unusable input.
"""

from __future__ import annotations

import re
import sys
from difflib import unified_diff
from pathlib import Path

_DURATION = r"[\d\s.dhms]+"  # "0.95s", "1m12.30s", "2h 5m"
_TIMINGS = [
    re.compile(rf"(?<=:){_DURATION}CPU{_DURATION}WALL"),  # the counts of calls stay
    re.compile(r"(?<=total cpu time spent up to now is)\s+\S+(?= secs)"),
    re.compile(r"(?<=starts on)\s.*"),
    re.compile(r"(?<=This run was terminated on:).*"),
]


def without_timings(output: str) -> str:
    """Return pw.x output with each time of day or duration replaced by " (time)"."""
    for timing in _TIMINGS:
        output = timing.sub(" (time)", output)
    return output


def main(paths: list[str]) -> int:
    """Compare two files; return the exit status."""
    if len(paths) != 2:
        print("usage: compare.py FIRST.out SECOND.out", file=sys.stderr)
        return 2
    outputs = []
    for path in paths:
        try:
            output = Path(path).read_bytes().decode("latin-1")  # any byte counts, none is invalid
        except OSError as error:
            print(f"compare.py: {path}: {error.strerror}", file=sys.stderr)
            return 2
        if "JOB DONE." not in output:
            print(f"compare.py: {path}: not the output of a completed pw.x run", file=sys.stderr)
            return 2
        outputs.append(without_timings(output))
    if outputs[0] == outputs[1]:
        print(f"equal: {len(outputs[0].splitlines())} lines")
        return 0
    first, second = (output.splitlines() for output in outputs)
    print("\n".join(unified_diff(first, second, *paths, lineterm="", n=0)))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
