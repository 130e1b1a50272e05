"""The command `swapmeet`, also as `python -m swapmeet`."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130  #: exit status after Ctrl-C, as shells have it


def main() -> None:
    """Run it. Ctrl-C ends it without a traceback from the beginning on, and its parts take a while to load."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell's >&-: nobody reads it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        from swapmeet.texts import print_in_any_encoding

        print_in_any_encoding()
        from swapmeet.cli.app import app
    except KeyboardInterrupt:
        print("swapmeet: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)
    app(prog_name="swapmeet")


if __name__ == "__main__":
    main()
