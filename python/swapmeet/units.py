"""Times, bytes and rates as text: as tables, pages and pictures print them, and as users write them."""

from __future__ import annotations

import math
import re

from swapmeet.errors import SwapmeetError

SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
BINARY = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
ROUNDS_UP = 0.9995  #: of a unit: printed with three digits, this is 1.00 of it

BYTES = re.compile(r"(\d{1,15})((?<=\d)[KMGkmg]?)(?:iB|B)?")
LIKE_BYTES = re.compile(r"(\d+) *([kmg]) *i?b?(?:ytes?)?", re.IGNORECASE)
MOST_BYTES = 2**63 - 1  #: of the core's numbers
DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|min|h|)")
DURATION_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([a-z]*)")
TIME_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
MOST_NS = 10**15  #: some days
RATE_BITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}


# Numbers


def digits(value: float) -> str:
    """Three significant digits, without an exponent where that is short."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "?"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -4 <= magnitude < 6:
        return f"{value:.2e}"
    decimals = max(0, 2 - magnitude)
    if round(abs(value), decimals) >= 10 ** (magnitude + 1):
        decimals = max(0, decimals - 1)  # 9.999 is 10.0
    return f"{value:,.{decimals}f}"


# Times


def duration(seconds: float) -> str:
    """Three digits and a unit, as in 12.3 µs or 1.00 s."""
    if seconds == 0 or not math.isfinite(seconds):
        return digits(seconds)
    value, unit = _in_seconds(seconds)
    return f"{digits(value)} {unit}"


def short_duration(seconds: float, most_digits: int = 3) -> str:
    """The same without zeros at the end, as in 1 s."""
    value, unit = _in_seconds(seconds) if seconds else (0.0, "s")
    return f"{value:.{most_digits}g} {unit}"


def long_duration(seconds: float) -> str:
    """What something takes, about: as in 90 s, 5 min or 3 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def microseconds(time_us: float) -> str:
    """For a column of times in µs that are compared: two decimals."""
    return f"{time_us:,.2f}"


def short_microseconds(time_us: float) -> str:
    """For a column of times in µs with intervals: three digits, or whole."""
    return f"{time_us:.0f}" if time_us >= 1000 else f"{time_us:.3g}"


def in_symbols(text: str) -> str:
    """A text of the library, which prints ASCII alone, with µs."""
    return re.sub(r"(?<=\d )us\b", "µs", text)


def _in_seconds(seconds: float) -> tuple[float, str]:
    unit, scale = next((one for one in SECONDS if abs(seconds) >= one[1] * ROUNDS_UP), SECONDS[-1])
    return seconds / scale, unit


# Bytes


def bytes_text(number: int) -> str:
    """In the largest unit up to GiB that divides it, as in 1536 B or 2 MiB."""
    for unit, factor in BINARY[1:]:
        if number and number % factor == 0:
            return f"{number // factor} {unit}"
    return f"{number} B"


def size_text(number: float) -> str:
    """In the largest unit that it reaches, with four digits at most, as in 64 B or 1.5 KiB."""
    value, unit = _in_bytes(number)
    return f"{value:.4g} {unit}"


def mean_text(number: float) -> str:
    """Bytes that were averaged, in three digits, not to be broken over lines."""
    value, unit = _in_bytes(number)
    return f"{digits(value)}\u00a0{unit}"


def _in_bytes(number: float) -> tuple[float, str]:
    for unit, scale in BINARY:
        if number >= scale:
            return number / scale, unit
    return number, "B"


# As users write them


def parse_bytes(text: str, option: str) -> int:
    """A size such as 64, 8KiB or 1M, in bytes.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    match = BYTES.fullmatch(text.strip())
    if match is None:
        near = LIKE_BYTES.fullmatch(text.strip())
        hint = f"; did you mean {near[1]}{near[2].upper()}iB?" if near else ""
        raise SwapmeetError(f'{option} "{text}": expected bytes, such as 64, 8KiB or 1MiB{hint}')
    size = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]
    if size > MOST_BYTES:
        raise SwapmeetError(f'{option} "{text}": expected {MOST_BYTES} bytes or less')
    return size


def parse_duration(text: str, option: str) -> float:
    """Seconds of a time such as 90, 90s, 15m or 2h: how long something may take.

    Raises
    ------
    SwapmeetError
        If it is none, or 0.
    """
    match = DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * DURATION_S[match[2]] if match else 0
    if not seconds > 0:
        raise SwapmeetError(f'{option} "{text}": expected a time such as 90s, 15m or 2h')
    return seconds


def parse_time(text: str, option: str) -> int:
    """Nanoseconds of a time such as 50us, 1.5ms or 2s; 0 needs no unit.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    match = AMOUNT.fullmatch(text.strip())
    if match and (match[2] in TIME_NS or float(match[1]) == 0 == len(match[2])):
        time = round(float(match[1]) * TIME_NS.get(match[2], 1))
        if time <= MOST_NS:
            return time
    raise SwapmeetError(f'{option} "{text}": expected a time such as 50us, 1.5ms or 2s')


def parse_rate(text: str, option: str) -> float:
    """Bytes per second of a rate such as 1gbit.

    Raises
    ------
    SwapmeetError
        If it is none, or 0.
    """
    match = AMOUNT.fullmatch(text.strip().lower())
    if match and match[2] in RATE_BITS and float(match[1]) > 0:
        return float(match[1]) * RATE_BITS[match[2]] / 8
    raise SwapmeetError(f'{option} "{text}": expected a rate such as 100mbit or 1gbit')
