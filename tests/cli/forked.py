"""`swapmeet WORDS...`, each time in a process that is forked from this one, which has loaded all of it.

To load it takes longer than most commands do. A line on standard input asks for a command; lines on standard output
have its process and its exit status. See command.py.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

from typer.testing import CliRunner

import swapmeet
from swapmeet.__main__ import main
from swapmeet.cli.app import Loaded, app

#: Not to be loaded where processes are forked: the first begins MPI, the others may make threads.
ALONE = ("matplotlib", "mpi4py", "sklearn")


def load() -> None:
    """Import every module of ours that can be imported without those packages."""
    sys.modules.update(dict.fromkeys(ALONE))  # an import of any of them fails
    for module in pkgutil.walk_packages(swapmeet.__path__, "swapmeet."):
        with suppress(ImportError):
            importlib.import_module(module.name)
    for name in ALONE:
        del sys.modules[name]
    dict(Loaded())
    CliRunner().invoke(app, ["options"])  # loads what typer and Rich put off
    gc.freeze()  # else the first collection of each child writes, hence copies, the memory of all this


def become(words: list[str], environment: dict[str, str], folder: str, files: list[str]) -> NoReturn:
    """Run a command in this process, its standard streams in `files`."""
    for stream, (file, flags) in enumerate(zip(files, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
        os.dup2(os.open(file, flags), stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # the other one has read requests
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["swapmeet", *words]
    status = 0
    try:
        main()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # to take apart all that was loaded would take longer than what was asked for


def serve() -> None:
    """Until standard input ends."""
    answers = open(os.dup(1), "w", buffering=1)  # noqa: SIM115
    load()
    while request := sys.stdin.readline():
        child = os.fork()
        if not child:
            become(**json.loads(request))
        print(child, file=answers)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers)


if __name__ == "__main__":
    serve()
