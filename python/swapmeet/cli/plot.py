"""The command `swapmeet plot`: which pictures, into which files. Drawing is done by the modules of each kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapmeet import progress, texts
from swapmeet.cli.arguments import RANKS, AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.output import print_json
from swapmeet.specs import parse_ranks

if TYPE_CHECKING:
    from swapmeet.draw.plots.measured import Measurements
    from swapmeet.draw.plots.pictures import LeftOut, Picture

PICTURES = ("heat", "latency", "radix", "phases", "samples")
REPORT = "report"
KINDS = (*PICTURES, REPORT)
SUFFIXES = (".png", ".svg")
HTML = ".html"
COLLECTIVES = ("alltoall", "alltoallv")


def plot(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Files of `swapmeet bench`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER|FILE",
            help="A folder for everything, or one PNG, SVG or HTML file. Default: RESULTS-plots, beside RESULTS.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"Only this: {', '.join(KINDS)}; may be repeated. Default: all.")
    ] = None,
    spec: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only these specs, and native; may be repeated.")
    ] = None,
    mpi: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only these MPIs, as in 'openmpi*'.")] = None,
    collective: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Only this: {' or '.join(COLLECTIVES)}.")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(*RANKS, metavar="RANKS", help="Only these numbers of ranks, as in 4:16,64.")
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("-S", "--sizes", metavar="GLOB", help="Only these sizes: bytes such as 64, or 'uniform*'."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw results: pictures (PNG and SVG) and a report (HTML).

    Speed-up over the MPI as heat maps, latency over sizes, time over the radix, phases, samples.
    """
    kinds = _kinds(kind, output)
    if collective not in (None, *COLLECTIVES):
        raise SwapmeetError(f'--collective "{collective}": expected {" or ".join(COLLECTIVES)}')
    wanted_ranks = tuple(parse_ranks(ranks)) if ranks is not None else ()
    require_libraries()
    _require_files(results)
    from swapmeet.draw.plots.measured import Filter, load

    given = Filter(tuple(spec or ()), tuple(mpi or ()), collective or "", wanted_ranks, tuple(sizes or ()))
    data = load(results, given)
    folder = _require_place(output or _default_folder(results[0]))
    from swapmeet.draw.plots.pictures import Picture

    everything = list(_pictures(data))
    pictures = [one for one in everything if isinstance(one, Picture)]
    left_out = [one for one in everything if not isinstance(one, Picture)]
    files: list[Path] = []
    if folder is None:
        assert output is not None
        _write_one(data, pictures, left_out, kinds, output)
        files.append(output)
    else:
        files += _write_all(data, pictures, left_out, kinds, folder)
    missing = [one for one in left_out if one.kind in kinds and folder is not None]
    if as_json:
        print_json("plot", files=files, left_out=[{"kind": one.kind, "why": one.why} for one in missing])
        return
    print(*files, sep="\n")
    for one in missing:
        print(f"swapmeet: left out: {one.kind}: {one.why}", file=sys.stderr)


def _kinds(given: Sequence[str] | None, output: Path | None) -> list[str]:
    for one in given or ():
        if one not in KINDS:
            raise SwapmeetError(f'--kind "{one}": expected one of {", ".join(KINDS)}')
    kinds = list(dict.fromkeys(given or KINDS))
    if output is None or output.is_dir() or not output.suffix:
        return kinds
    suffix = output.suffix.lower()
    if suffix == HTML:
        if given and REPORT not in kinds:
            return [REPORT, *kinds]  # a report of these pictures only
        return kinds
    if suffix not in SUFFIXES:
        raise SwapmeetError(f'-o "{output}": expected a folder, or a name that ends in {", ".join((*SUFFIXES, HTML))}')
    if given is None or len(kinds) > 1 or kinds == [REPORT]:
        raise SwapmeetError(f'-o "{output}" is one picture: name it by --kind {"|".join(PICTURES)}')
    return kinds


def require_libraries() -> None:
    """Refuse to draw without what drawing takes.

    Raises
    ------
    SwapmeetError
        With the extra of the package that brings it.
    """
    missing = []
    for name in ("matplotlib", "numpy", "scipy"):
        if find_spec(name) is None:  # importing them takes half a second
            missing.append(name)
    if missing:
        raise SwapmeetError(f"plot needs {' and '.join(missing)}: `pip install 'swapmeet[plot]'`")


def _require_files(results: Sequence[Path]) -> None:
    for path in results:
        if path.is_dir():
            raise SwapmeetError(f"{path} is a folder: give the results file of `swapmeet bench` in it")
        if not path.exists():
            raise SwapmeetError(f"{path}: no such file: give a results file of `swapmeet bench`")
        if path.is_file() and path.stat().st_size == 0:
            raise SwapmeetError(f"{path} is empty: `swapmeet bench` has written nothing to it")


def _default_folder(results: Path) -> Path:
    return results.with_name(f"{results.stem}-plots")


def _require_place(output: Path) -> Path | None:
    """The folder to fill, made if need be; None if `output` is a file, in a folder that is there."""
    if output.suffix.lower() in (*SUFFIXES, HTML) and not output.is_dir():
        if not output.parent.is_dir():
            raise SwapmeetError(f'-o "{output}": there is no folder {output.parent}')
        return None
    try:
        output.mkdir(parents=True, exist_ok=True)
        trial = output / ".swapmeet-plot"
        trial.touch()
        trial.unlink()
    except OSError as problem:
        raise SwapmeetError(f'"{output}": {problem.strerror}: name a folder that can be written to by -o') from None
    return output


def _pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    from swapmeet.draw.plots import heat, latency, phases, radix, samples

    for module in (heat, latency, radix, phases, samples):
        yield from module.pictures(data)


def _write_one(
    data: Measurements, pictures: Sequence[Picture], left_out: Sequence[LeftOut], kinds: Sequence[str], file: Path
) -> None:
    if file.suffix.lower() == HTML:
        _write_report(data, pictures, left_out, kinds, file)
        return
    from swapmeet.draw.plots.style import save

    (kind,) = kinds
    some = [one for one in pictures if one.kind == kind]
    if not some:
        why = next((one.why for one in left_out if one.kind == kind), "nothing was measured for it")
        raise SwapmeetError(f"--kind {kind}: {why}")
    if len(some) > 1:
        raise SwapmeetError(
            f'-o "{file}" is one picture, and there are {len(some)} ({some[0].name}, {some[1].name}, ...): '
            "choose by --mpi, --collective, -P or --sizes, or name a folder"
        )
    save(some[0].draw(), file, "-o")


def _write_all(
    data: Measurements, pictures: Sequence[Picture], left_out: Sequence[LeftOut], kinds: Sequence[str], folder: Path
) -> Iterator[Path]:
    from swapmeet.draw.plots.style import save

    drawn = [one for one in pictures if one.kind in kinds]
    if REPORT in kinds:
        file = folder / f"{REPORT}{HTML}"
        _write_report(data, pictures, left_out, PICTURES if kinds == [REPORT] else kinds, file)
        yield file
    if not drawn and set(kinds) != {REPORT}:
        whys = [f"{one.kind}: {one.why}" for one in left_out if one.kind in kinds]
        if REPORT not in kinds and whys:
            raise SwapmeetError("; ".join(whys))
    with _progress("drawing", len(drawn)) as advance:
        for one in drawn:
            figure = one.draw()
            for suffix in SUFFIXES:
                file = folder / f"{one.name}{suffix}"
                save(figure, file, "-o")
                yield file
            advance()


def _write_report(
    data: Measurements, pictures: Sequence[Picture], left_out: Sequence[LeftOut], kinds: Sequence[str], file: Path
) -> None:
    from swapmeet.draw.plots.report import report

    wanted = PICTURES if not set(kinds) & set(PICTURES) else kinds
    shown = [one for one in pictures if one.kind in wanted]
    with _progress("writing the report", len(shown)) as advance:
        text = report(data, shown, [one for one in left_out if one.kind in wanted], advance)
    texts.write(file, text)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, nothing elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with progress.bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()) as shown:
        task = shown.add_task(title, total=total)
        yield lambda: shown.advance(task)
