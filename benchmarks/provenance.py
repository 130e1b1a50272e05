"""Which commits the data of docs/measurements were measured at, whether these can be repeated, and how old they are.

    python benchmarks/provenance.py          the age of each file of data, in commits
    python benchmarks/provenance.py page     the same, and a warning on top of each page whose data cannot be repeated

Data can be repeated if they were measured in a tree without changes, at a commit of this repository. The age of data is
the number of later commits that changed `src`. It needs the repository's history: a shallow clone does not know it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASUREMENTS = ROOT / "docs" / "measurements"
CHANGED = "-dirty"  #: what `git describe` adds to the commit of a tree with changes
BEGIN, END = "<!-- made by `python benchmarks/provenance.py page`: begin -->\n", "<!-- provenance: end -->\n\n"


def commits(file: Path) -> list[str]:
    """The commits that the lines of a file name, as `git describe --dirty` printed them."""
    found = []
    for line in file.read_text().splitlines():
        record = json.loads(line)
        about = next((record[name] for name in ("header", "made") if name in record), record)
        found += [about["commit"]] if about.get("commit") else []
    return list(dict.fromkeys(found))


def no_history() -> str:
    """Why this tree does not know its history; "" if it does."""
    try:
        shallow = _git("rev-parse", "--is-shallow-repository")
    except OSError as why:
        return f"git cannot be run: {why}"
    if shallow.returncode:
        return "this tree is no clone of a git repository"
    return "this is a shallow clone" if shallow.stdout.strip() == "true" else ""


def problem(commit: str) -> str:
    """Why data of a commit cannot be repeated; "" if they can. What needs history is passed over without one."""
    name = commit.removesuffix(CHANGED)
    if commit != name:
        return f"in a tree with uncommitted changes (commit {commit})"
    if not no_history() and _git("cat-file", "-e", f"{name}^{{commit}}").returncode:
        return f"at a commit that this repository does not have ({commit})"
    return ""


def age(commit: str) -> int:
    """How many commits since then have changed `src`.

    Raises
    ------
    ValueError
        If the repository does not have the commit.
    """
    done = _git("rev-list", "--count", f"{commit.removesuffix(CHANGED)}..HEAD", "--", "src")
    if done.returncode:
        raise ValueError(f"no commit of this repository: {commit}")
    return int(done.stdout)


def report(file: Path) -> str:
    """A line on a file: its commits, their ages, and what is wrong with them."""
    parts = []
    for commit in commits(file):
        try:
            old = f"{age(commit)} commits to src ago"
        except ValueError:
            old = "age unknown"
        parts.append(f"{commit}, {old}" + (": cannot be repeated" if problem(commit) else ""))
    return f"{file.name}: {'; '.join(parts) or 'names no commit'}"


def warned(text: str, problems: list[str]) -> str:
    """A page with the warning below its title, or without one if there are no problems."""
    if BEGIN in text:
        before, _, rest = text.partition(BEGIN)
        text = before + rest.partition(END)[2]
    if not problems:
        return text
    title, _, rest = text.partition("\n\n")
    warning = f"Measured {' and '.join(problems)}: these numbers cannot be repeated exactly.\n"
    return f"{title}\n\n{BEGIN}{warning}{END}{rest}"


def pages() -> dict[Path, str]:
    """Each page of measurements, as it has to be."""
    found = {}
    for page in sorted(MEASUREMENTS.glob("*.md")):
        data = page.with_suffix(".jsonl")
        some = [why for commit in (commits(data) if data.exists() else []) if (why := problem(commit))]
        found[page] = warned(page.read_text(), some)
    return found


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)


def main() -> None:
    """Report, and write the pages on request."""
    if "page" in sys.argv[1:]:
        for page, text in pages().items():
            page.write_text(text)
    if why := no_history():
        print(f"The age of measurements is unknown: {why}.")
        return
    for file in sorted(MEASUREMENTS.glob("*.jsonl")):
        print(report(file))


if __name__ == "__main__":
    main()
