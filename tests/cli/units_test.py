"""Times and bytes as text (python/swapmeet/units.py)."""

import math

import pytest

from swapmeet import SwapmeetError, units


@pytest.mark.parametrize(
    ("seconds", "text", "short"),
    [
        (0, "0", "0 s"),
        (1, "1.00 s", "1 s"),
        (0.99996, "1.00 s", "1 s"),
        (0.99996e-3, "1.00 ms", "1 ms"),
        (1.234e-5, "12.3 µs", "12.3 µs"),
        (9.999e-6, "10.0 µs", "10 µs"),
        (4e-10, "0.400 ns", "0.4 ns"),
        (-2e-3, "-2.00 ms", "-2 ms"),
        (math.inf, "∞", "inf s"),
        (math.nan, "?", "nan ns"),
    ],
)
def test_times(seconds: float, text: str, short: str) -> None:
    assert units.duration(seconds) == text
    assert units.short_duration(seconds) == short


@pytest.mark.parametrize(
    ("seconds", "text"), [(9, "9 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (9e3, "2 h")]
)
def test_times_that_something_takes(seconds: float, text: str) -> None:
    assert units.long_duration(seconds) == text


def test_columns_of_microseconds() -> None:
    assert [units.microseconds(time) for time in (0.004, 1234.5)] == ["0.00", "1,234.50"]
    assert [units.short_microseconds(time) for time in (0.01234, 12.34, 12345.6)] == ["0.0123", "12.3", "12346"]


@pytest.mark.parametrize(
    ("number", "exact", "rounded"),
    [
        (0, "0 B", "0 B"),
        (8, "8 B", "8 B"),
        (1024, "1 KiB", "1 KiB"),
        (1536, "1536 B", "1.5 KiB"),
        (1 << 20, "1 MiB", "1 MiB"),
        (1 << 40, "1024 GiB", "1 TiB"),
        (12_345_678, "12345678 B", "11.77 MiB"),
    ],
)
def test_sizes(number: int, exact: str, rounded: str) -> None:
    assert units.bytes_text(number) == exact
    assert units.size_text(number) == rounded
    assert units.parse_bytes(exact.replace(" ", ""), "-S") == number


def test_sizes_that_were_averaged_stay_on_one_line() -> None:
    assert units.mean_text(1536.4) == "1.50\u00a0KiB"


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2min", 120), ("2h", 7200)])
def test_how_long_something_may_take(text: str, seconds: float) -> None:
    assert units.parse_duration(text, "--budget") == seconds


@pytest.mark.parametrize(("text", "ns"), [("0", 0), ("50us", 50_000), ("1.5ms", 1_500_000), ("2s", 2 * 10**9)])
def test_times_as_users_write_them(text: str, ns: int) -> None:
    assert units.parse_time(text, "--latency") == ns


def test_rates_as_users_write_them() -> None:
    assert units.parse_rate("1gbit", "--rate") == 125e6


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_bytes, "8kb8"),
        (units.parse_bytes, ""),
        (units.parse_duration, "0s"),
        (units.parse_duration, "soon"),
        (units.parse_time, "50"),
        (units.parse_time, "9999999h"),
        (units.parse_rate, "0gbit"),
        (units.parse_rate, "1"),
    ],
)
def test_anything_else_is_refused_with_the_option(parse, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SwapmeetError) as problem:
        parse(text, "--option")
    assert str(problem.value).startswith(f'--option "{text}": expected ')
