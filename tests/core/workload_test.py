"""Workloads: block sizes by their stated distributions, the same for both ends of a message and on every machine."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

KINDS = {
    "constant:bytes=64": 64,
    "uniform:max=1000": 1000,
    "normal:mean=512,deviation=128": 1024,
    "normal:mean=100,deviation=200,max=250": 250,
    "normal:mean=1000,deviation=10,max=5000": 1060,
    "power-law:exponent=0.99,max=64KiB": 65536,
    "power-law:exponent=1,max=64KiB": 65536,
    "power-law:exponent=2.5,max=4096": 4096,
    "power-law:exponent=0,max=100": 100,
    "skewed:exponent=0.99,max=64KiB": 65536,
    "skewed:exponent=2,max=4096,of=destination": 4096,
    "sparse:density=0.05,bytes=4KiB": 4096,
    "sparse:density=0,bytes=4KiB": 0,
    "hot-spot:bytes=8,hot=64MiB,source=0,destination=1": 64 << 20,
    "hot-spot:bytes=8,hot=3,destination=3": 8,
}  #: text: most_bytes
RANKS = 120  # 14400 blocks
SEED = 2026


def sample(text: str) -> list[int]:
    return [size for row in _core.workload_sizes(text, SEED, RANKS) for size in row]


# --- a second implementation, from the header's words ---

WORD = 2**64 - 1


def mix(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB & WORD
    return value ^ value >> 31


def draw(seed: int, source: int, destination: int, index: int = 0) -> int:
    return mix(mix(mix(mix(seed) + source) + destination) + index * 0x9E3779B97F4A7C15)


def test_the_generator_is_splitmix64() -> None:
    state, gamma = 1234567, 0x9E3779B97F4A7C15
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423]  # of splitmix64.c from this state
    assert [mix(state + k * gamma) for k in range(3)] == outputs


seeds = st.integers(0, WORD)
ranks = st.integers(0, 2**31 - 2)
sizes = st.integers(0, 1 << 40)


@given(seeds, ranks, ranks, sizes)
def test_uniform_and_sparse_sizes_by_definition(seed: int, source: int, destination: int, size: int) -> None:
    random = draw(seed, source, destination)
    where = (seed, 2**31 - 1, source, destination)
    assert _core.parse_workload(f"uniform:max={size}").bytes(*where) == random % (size + 1)
    sparse = _core.parse_workload(f"sparse:density=0.25,bytes={size}").bytes(*where)
    assert sparse == (size if random % 10**9 < 250_000_000 else 0)


@given(seeds, ranks, ranks, sizes, sizes, sizes)
def test_normal_sizes_by_definition(seed: int, source: int, destination: int, mean: int, dev: int, most: int) -> None:
    words = [draw(seed, source, destination, k) for k in range(3)]
    z = sum(word >> shift & 0xFFFF for word in words for shift in (0, 16, 32, 48)) - 6 * 0xFFFF
    expected = min(max((mean * 65536 + dev * z + 32768) >> 16, 0), most)
    workload = _core.parse_workload(f"normal:mean={mean},deviation={dev},max={most}")
    assert workload.bytes(seed, 2**31 - 1, source, destination) == expected


@given(seeds, ranks, ranks, st.integers(0, 4 * 10**9), sizes)
def test_skewed_blocks_have_the_size_that_their_owner_draws(
    seed: int, a: int, b: int, billionths: int, most: int
) -> None:
    values = f"exponent={billionths // 10**9}.{billionths % 10**9:09d},max={most}"
    law = _core.parse_workload(f"power-law:{values}")
    for end, owner in (("source", a), ("destination", b)):
        skewed = _core.parse_workload(f"skewed:{values},of={end}")
        assert skewed.bytes(seed, 2**31 - 1, a, b) == law.bytes(seed, 2**31 - 1, owner, owner)


@given(seeds, ranks, ranks, st.integers(0, 16 * 10**9) | st.integers(10**9 - 2000, 10**9 + 2000), sizes)
def test_power_law_sizes_by_definition(seed: int, source: int, destination: int, billionths: int, most: int) -> None:
    """Compared in logarithms, from the upper tail of x^(1 - exponent) on: there the definition is well-conditioned."""
    text = f"power-law:exponent={billionths // 10**9}.{billionths % 10**9:09d},max={most}"
    size = _core.parse_workload(text).bytes(seed, 2**31 - 1, source, destination)
    u, rest, log_end = (draw(seed, source, destination) >> 11) / 2**53, 1 - billionths / 1e9, math.log(most + 1)
    log_x = u * log_end if abs(rest) < 1e-9 else math.log1p(u * math.expm1(rest * log_end)) / rest
    slack = 1e-4 * (log_x + 1) if abs(rest) < 3e-6 else 1e-9 * (log_x + 1)
    low, high = math.exp(log_x - slack), math.exp(log_x + slack)
    assert min(max(math.floor(low), 1), most) <= size <= min(max(math.floor(high), 1), most)


GOLDEN = {  # seed 2026, 3 ranks; so they were on x86-64 with GCC 12, and so they must stay
    "uniform:max=1024": [[267, 465, 280], [355, 1005, 610], [974, 471, 546]],
    "normal:mean=512,deviation=128": [[232, 475, 517], [597, 607, 447], [226, 582, 668]],
    "power-law:exponent=0.99,max=64KiB": [[69, 15, 422], [4555, 6469, 21380], [1, 12023, 4494]],
    "power-law:exponent=1,max=1MiB": [[168, 25, 1583], [32476, 51037, 240862], [1, 113823, 31919]],
    "power-law:exponent=1,max=700GiB": [  # to the last digit; within 1e-12 of Python's (max + 1)**u
        [24739, 605, 2048095],
        [793129584, 1934603561, 41291915978],
        [2, 9412850431, 766508745],
    ],
    "sparse:density=0.5,bytes=4KiB": [[0, 0, 4096], [0, 0, 4096], [0, 0, 4096]],
    "hot-spot:bytes=8,hot=1MiB,source=0,destination=1": [[8, 1048576, 8], [8, 8, 8], [8, 8, 8]],
}


@pytest.mark.parametrize("text", GOLDEN)
def test_sizes_are_the_same_on_every_machine(text: str) -> None:
    assert _core.workload_sizes(text, SEED, 3) == GOLDEN[text]


# --- the distributions ---


@pytest.mark.parametrize("text", KINDS)
def test_no_block_is_larger_than_stated(text: str) -> None:
    most = _core.parse_workload(text).most_bytes
    assert most == KINDS[text]
    assert all(0 <= size <= most for size in sample(text))


def mean_and_deviation(text: str) -> tuple[float, float]:
    """What a kind's definition implies, clamping aside."""
    workload, values = _core.parse_workload(text), dict(part.split("=") for part in text.split(":")[1].split(","))
    if workload.kind == "uniform":
        n = int(values["max"])
        return n / 2, math.sqrt(n * (n + 2) / 12)
    if workload.kind == "normal":
        return float(values["mean"]), float(values["deviation"])
    if workload.kind == "sparse":
        density, size = float(values["density"]), int(values["bytes"])
        return density * size, size * math.sqrt(density * (1 - density))
    exponent, n = float(values["exponent"]), int(values["max"])

    def below(k: int) -> float:
        return math.log(k) if exponent == 1 else (k ** (1 - exponent) - 1) / (1 - exponent)

    chances = [(below(k + 1) - below(k)) / below(n + 1) for k in range(1, n + 1)]
    mean = sum(k * chance for k, chance in enumerate(chances, 1))
    return mean, math.sqrt(sum((k - mean) ** 2 * chance for k, chance in enumerate(chances, 1)))


@pytest.mark.parametrize(
    "text",
    [
        "uniform:max=1000",
        "uniform:max=1",
        "normal:mean=512,deviation=100",
        "sparse:density=0.05,bytes=4096",
        "power-law:exponent=0.99,max=65536",
        "power-law:exponent=1,max=65536",
        "power-law:exponent=1.5,max=4096",
        "power-law:exponent=3,max=64",
        "power-law:exponent=0,max=100",
    ],
)
def test_mean_and_deviation(text: str) -> None:
    blocks = sample(text)
    mean, deviation = mean_and_deviation(text)
    found = sum(blocks) / len(blocks)
    assert abs(found - mean) < 4 * deviation / math.sqrt(len(blocks))
    spread = math.sqrt(sum((size - mean) ** 2 for size in blocks) / len(blocks))
    assert abs(spread - deviation) < 0.08 * deviation


def test_normal_sizes_have_the_shape_of_the_normal_distribution() -> None:
    blocks = sample("normal:mean=1000,deviation=100")
    for deviations, share in ((1, 0.6827), (2, 0.9545), (3, 0.9973)):
        within = sum(abs(size - 1000) <= 100 * deviations for size in blocks) / len(blocks)
        assert abs(within - share) < 4 * math.sqrt(share * (1 - share) / len(blocks)) + 0.005


def test_normal_sizes_are_clamped_at_both_ends() -> None:
    blocks = sample("normal:mean=100,deviation=200,max=250")
    assert 0.29 < blocks.count(0) / len(blocks) < 0.33  # P(z < -0.5) = 0.309
    assert 0.21 < blocks.count(250) / len(blocks) < 0.25  # P(z > 0.75) = 0.227


def test_rows_columns_and_seeds_are_independent() -> None:
    """Sizes of neighbours, and of a pair both ways, do not go together."""
    rows = _core.workload_sizes("uniform:max=1000", SEED, RANKS)
    other = _core.workload_sizes("uniform:max=1000", SEED + 1, RANKS)
    inner = [(i, j) for i in range(RANKS - 1) for j in range(i)]
    for a, b in (
        ([rows[i][j] for i, j in inner], [rows[j][i] for i, j in inner]),
        ([rows[i][j] for i, j in inner], [rows[i][j + 1] for i, j in inner]),
        ([rows[i][j] for i, j in inner], [rows[i + 1][j] for i, j in inner]),
        ([rows[i][j] for i, j in inner], [other[i][j] for i, j in inner]),
    ):
        covariance = sum((x - 500) * (y - 500) for x, y in zip(a, b, strict=True)) / len(a)
        assert abs(covariance) < 5 * (1000**2 / 12) / math.sqrt(len(a))


def hot_blocks(text: str, p: int) -> set[tuple[int, int]]:
    rows = _core.workload_sizes(text, SEED, p)
    assert {size for row in rows for size in row} <= {8, 1 << 20}
    return {(i, j) for i in range(p) for j in range(p) if rows[i][j] == 1 << 20}


def test_hot_spots() -> None:
    hot = "hot-spot:bytes=8,hot=1MiB"
    assert hot_blocks(f"{hot},source=0,destination=1", 5) == {(0, 1)}
    assert hot_blocks(f"{hot},source=2,destination=2", 5) == {(2, 2)}
    assert hot_blocks(f"{hot},destination=3,source=any", 5) == {(i, 3) for i in range(5)}
    assert hot_blocks(f"{hot},source=4", 5) == {(4, j) for j in range(5)}
    assert hot_blocks(f"{hot},source=0,destination=5", 5) == set()


# --- one block, one rank, all blocks ---


@pytest.mark.parametrize("text", KINDS)
@pytest.mark.parametrize("p", [1, 2, 3, 13])
def test_the_views_agree(text: str, p: int) -> None:
    workload, rows = _core.parse_workload(text), _core.workload_sizes(text, 7, p)
    assert rows == _core.workload_sizes(workload, 7, p)
    assert rows == [[workload.bytes(7, p, i, j) for j in range(p)] for i in range(p)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    for rank in range(p):
        for share, blocks in ((workload.sent, rows[rank]), (workload.received, columns[rank])):
            assert share(7, p, rank) == (sum(blocks), max(blocks), sum(size > 0 for size in blocks))


def test_seeds_matter_to_the_last_bit() -> None:
    sizes = {seed: _core.workload_sizes("uniform:max=1GiB", seed, 2) for seed in (0, 1, 2**32, 2**63, 2**64 - 1)}
    assert all(a is b or a != b for a in sizes.values() for b in sizes.values())


@pytest.mark.parametrize(("p", "source", "destination"), [(0, 0, 0), (4, 4, 0), (4, 0, 4), (4, -1, 0), (4, 0, -1)])
def test_ranks_that_do_not_exist_are_refused(p: int, source: int, destination: int) -> None:
    workload = _core.parse_workload("constant:bytes=1")
    with pytest.raises(ValueError, match="rank|is not one of"):
        workload.bytes(0, p, source, destination)
    for share in (workload.sent, workload.received):
        with pytest.raises(ValueError, match="rank"):
            share(0, p, p)
    with pytest.raises(ValueError, match="at least one rank"):
        _core.workload_sizes(workload, 0, 0)


# --- texts ---

byte_words = st.integers(0, 1 << 40).map(str) | st.sampled_from(("0B", "8KiB", "64MiB", "3k", "7M", "1G", "1024GiB"))
decimals = st.decimals(0, 1, places=9).map(lambda value: f"{value:f}") | st.sampled_from(("0", "1", "0.5", "0.050"))
rank_words = st.integers(0, 2**31 - 1).map(str)
PARAMETERS = {
    "constant": {"bytes": byte_words},
    "uniform": {"max": byte_words},
    "normal": {"mean": byte_words, "deviation": byte_words, "max": byte_words},
    "power-law": {"exponent": decimals | st.sampled_from(("16", "2.5")), "max": byte_words},
    "skewed": {
        "exponent": decimals,
        "max": byte_words,
        "of": st.sampled_from(("source", "destination")),
    },
    "sparse": {"density": decimals, "bytes": byte_words},
    "hot-spot": {
        "bytes": byte_words,
        "hot": byte_words,
        "source": rank_words | st.just("any"),
        "destination": rank_words,
    },
}


@st.composite
def workload_texts(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(sorted(PARAMETERS)))
    blank = draw(st.sampled_from(("", " ")))
    keys = draw(st.permutations(sorted(PARAMETERS[kind])))
    parts = [f"{blank}{key}{blank}={blank}{draw(PARAMETERS[kind][key])}" for key in keys]
    return f"{blank}{kind}{blank}:" + ",".join(parts) + blank


def test_every_kind_is_tested() -> None:
    assert list(PARAMETERS) == _core.workload_kinds()
    assert {text.split(":")[0] for text in KINDS} == set(PARAMETERS)


@given(workload_texts(), st.integers(0, WORD))
def test_text_of_a_workload_parses_back(text: str, seed: int) -> None:
    workload = _core.parse_workload(text)
    again = _core.parse_workload(str(workload))
    assert (str(again), again.kind) == (str(workload), workload.kind)
    assert _core.workload_sizes(again, seed, 3) == _core.workload_sizes(workload, seed, 3)
    assert all(0 <= size <= workload.most_bytes for row in _core.workload_sizes(workload, seed, 3) for size in row)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=80)
    | st.text(alphabet="uniform:ax=1024,.K", max_size=40)
    | st.tuples(workload_texts(), st.integers(0, 80), st.characters(codec="utf-8", exclude_characters="\0")).map(
        lambda t: t[0][: t[1]] + t[2] + t[0][t[1] + 1 :]
    )
)
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        workload = _core.parse_workload(text)
    except ValueError as problem:
        assert "(column " in str(problem)
    else:
        assert str(_core.parse_workload(str(workload))) == str(workload)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("uniform:max=1024", "uniform:max=1KiB"),
        ("uniform:max=1025B", "uniform:max=1025"),
        ("normal:deviation=1k,mean=3M", "normal:mean=3MiB,deviation=1KiB,max=6MiB"),
        ("normal:mean=1024GiB,deviation=0", "normal:mean=1024GiB,deviation=0,max=1024GiB"),
        ("sparse:density=0.050,bytes=0", "sparse:density=0.05,bytes=0"),
        ("power-law:exponent=1.000000001,max=1G", "power-law:exponent=1.000000001,max=1GiB"),
        ("skewed:max=64K,exponent=1", "skewed:exponent=1,max=64KiB,of=source"),
        ("hot-spot:hot=1025KiB,bytes=8,source=3", "hot-spot:bytes=8,hot=1025KiB,source=3,destination=any"),
    ],
)
def test_texts_are_printed_alike(text: str, canonical: str) -> None:
    assert str(_core.parse_workload(text)) == canonical


SIZE = "bytes up to 1024GiB, such as 4096, 64KiB or 1MiB"


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected a workload (known: constant, uniform, normal, power-law, skewed, sparse, hot-spot)"),
        ("  unifrom:max=1", 3, 'unknown workload "unifrom" (known: constant, uniform,'),
        ("zzzzzzzzzzzzzz", 1, 'unknown workload "zzzzzzzzzzzzzz" (known: constant'),
        ("é" * 60, 1, f'unknown workload "{"é" * 20}" (known'),
        ("x" + "é" * 60, 1, f'unknown workload "x{"é" * 19}" (known'),
        ("uniform", 8, f"uniform needs max: {SIZE}"),
        ("normal:mean=3", 14, f"normal needs deviation: {SIZE}"),
        ("uniform:", 9, "expected a parameter (known: max)"),
        ("uniform:max=1,", 15, "expected a parameter (known: max)"),
        ("uniform:max", 12, 'expected "=" behind "max"'),
        ("uniform:mx=3", 9, 'unknown parameter "mx" (known: max)'),
        ("uniform:bytes=3", 9, 'unknown parameter "bytes" (known: max)'),
        ("hot-spot:byts=3", 10, 'unknown parameter "byts" (known: bytes, hot, source, destination)'),
        ("uniform:max=1, max=2", 16, '"max" is given twice'),
        ("uniform:max=", 13, f'max must be {SIZE}, not ""'),
        ("uniform:max=-1", 13, f'max must be {SIZE}, not "-1"'),
        ("uniform:max=64KB", 13, f'max must be {SIZE}, not "64KB"'),
        ("uniform:max=1.5", 13, "max must be bytes"),
        ("uniform:max=1025GiB", 13, "max must be bytes"),
        ("uniform:max=18446744073709551621", 13, "max must be bytes"),  # 2**64 + 5
        ("sparse:density=1.1,bytes=3", 16, 'density must be 0 to 1, with at most 9 decimals, not "1.1"'),
        ("sparse:density=.5,bytes=3", 16, "density must be 0 to 1"),
        ("sparse:density=1e-3,bytes=3", 16, "density must be 0 to 1"),
        ("sparse:density=0.0000000001,bytes=3", 16, "at most 9 decimals"),
        ("power-law:exponent=16.1,max=3", 20, "exponent must be 0 to 16"),
        ("skewed:exponent=1,max=3,of=rank", 28, 'of must be source or destination, not "rank"'),
        ("hot-spot:bytes=8,hot=9,source=-2", 31, 'source must be a rank, or any, not "-2"'),
        ("hot-spot:bytes=8,hot=9,source=any", 34, "hot-spot needs a source or a destination"),
    ],
)
def test_messages_say_what_and_where(text: str, column: int, words: str) -> None:
    with pytest.raises(ValueError, match="column") as problem:
        _core.parse_workload(text)
    assert words in str(problem.value)
    assert str(problem.value).endswith(f"(column {column})")
    with pytest.raises(ValueError, match="column"):
        _core.workload_sizes(text, 0, 1)


def test_a_null_character_ends_no_text() -> None:
    with pytest.raises(ValueError, match="null character"):
        _core.parse_workload("uniform:max=1\0")
