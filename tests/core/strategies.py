"""What hypothesis draws specs from."""

from hypothesis import strategies as st

from swapmeet import _core

ORDERS = ("shift", "xor", "random", "scatter", "groups:3", "groups:nodes")
PARAMETERS = {
    "order": st.sampled_from(ORDERS),
    "window": st.just("all") | st.integers(1, 1 << 20).map(str),
    "complete": st.sampled_from(("all", "any", "test")),
    "post": st.sampled_from(("receives-first", "interleaved")),
    "segment": st.integers(0, 1 << 30).map(str) | st.sampled_from(("8KiB", "1MiB", "1GiB", "3k", "7B", "2M", "1G")),
    "seed": st.integers(0, 2**64 - 1).map(str),
}
radices = st.lists(
    st.lists(st.integers(2, 40).map(str) | st.sampled_from(("root", "all")), min_size=1, max_size=3).map("-".join),
    min_size=1,
    max_size=3,
).map("/".join)
PARAMETERS |= {
    "dims": st.sampled_from(("P", "2d", "3d", "nodes", "groups:3", "groups:2/6")),
    "radix": radices,
    "layout": st.sampled_from(("basic", "modified", "zero-rotation", "zero-copy")),
    "pack": st.sampled_from(("memcpy", "datatype")),
}
PARAMETERS |= {
    "messages": st.sampled_from(("coalesced", "staggered")),
    "digits": st.sampled_from(("standard", "balanced")),
    "paths": st.sampled_from(("ordered", "rotated")),
    "sizes": st.sampled_from(("auto", "padded", "ahead", "combined", "total")),
    "direct": st.sampled_from(("never", "auto", "0", "8KiB", "3MiB")),
}
PARAMETERS |= {
    "per-node": st.just("all") | st.integers(1, 40).map(str),
    "intra": st.sampled_from(("mpi", "shm", "cma", "auto", "rows")),
}
FAMILIES = ("native", "direct", "bruck", "leaders")
KEYS = {family: [p[0] for p in _core.parameters() if family in p[4] and p[0] in PARAMETERS] for family in FAMILIES}
for family in ("bruck", "leaders"):
    KEYS[family].remove("order")  # has other values
ALIASES = tuple(name for name, *_ in _core.aliases())
FAMILY_OF = {name: _core.parse_spec(name).family for name in (*FAMILIES, *ALIASES)}
SCHEDULED = tuple(name for name in ALIASES if FAMILY_OF[name] != "native")  #: those that have a schedule
blanks = st.sampled_from(("", " ", "  "))


@st.composite
def spec_texts(draw: st.DrawFn) -> str:
    """A valid spec in any spelling: any name, any parameters in any order, blanks anywhere."""
    name = draw(st.sampled_from(sorted(FAMILY_OF)))
    keys = draw(st.lists(st.sampled_from(KEYS[FAMILY_OF[name]]), unique=True))
    parts = []
    for key in keys:
        word = draw(st.sampled_from(("window", "stride"))) if key == "window" else key
        before, behind = draw(blanks), draw(blanks)
        may_grant = key == "post" and FAMILY_OF[name] == "direct"
        value = "granted" if may_grant and draw(st.booleans()) else draw(PARAMETERS[key])
        parts.append(f"{before}{word}{behind}={before}{value}{behind}")
    return draw(blanks) + name + draw(blanks) + "(" + ",".join(parts) + ")" + draw(blanks)


def has_schedule(text: str) -> bool:
    spec = _core.parse_spec(text)
    unsuitable = spec.unsuitable(64) if "intra=rows" in str(spec) else spec.unsuitable(1)
    return spec.family != "native" and "sizes=" not in unsuitable and "intra=rows" not in unsuitable


@st.composite
def schedules(draw: st.DrawFn, most_ranks: int = 40) -> _core.Schedule:
    """The schedule of some rank of some spec."""
    spec = _core.parse_spec(draw(spec_texts().filter(has_schedule)))
    ranks = draw(st.integers(1, most_ranks))
    if spec.unsuitable(ranks):
        ranks = 1 << (ranks.bit_length() - 1)
    return _core.generate(spec, ranks, draw(st.integers(0, ranks - 1)))
