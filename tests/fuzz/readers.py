"""Coverage-guided, by Atheris (libFuzzer for Python): SWAPMEET_FUZZ=NAME python readers.py [OPTION...] [CORPUS...]."""

from __future__ import annotations

import gc
import os
import sys
from types import FunctionType

import atheris
from reading import reader

for function in gc.get_objects():  # not at import, where Atheris misses what an editable install loads
    if isinstance(function, FunctionType) and (function.__module__ or "").startswith("swapmeet"):
        atheris.instrument_func(function)

atheris.Setup(sys.argv, reader(os.environ["SWAPMEET_FUZZ"]))
atheris.Fuzz()
