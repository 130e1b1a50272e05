"""MPICH's selection of algorithms, a JSON file: a tree of conditions, of which the first that holds wins.

A file replaces all that MPICH has built in, and a collective that is not in it ends the program. So what is written is
MPICH's own tree, as its library holds it, with other algorithms by the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swapmeet.choose import foreign
from swapmeet.choose.foreign import Call, Share, Theirs
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi
from swapmeet.structs import document
from swapmeet.texts import text_of

VARIABLE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
PREFIX = "algorithm=MPIR_"
ALLTOALL = {
    "pairwise": "Alltoall_intra_pairwise",
    "spread-out": "Alltoall_intra_scattered",
    "radix=2": "Alltoall_intra_brucks",
}
ALLTOALLV = {"spread-out": "Alltoallv_intra_scattered"}
RADIX = "Alltoall_intra_k_brucks"
OURS = {
    "Alltoall_intra_pairwise": "pairwise",
    "Alltoall_intra_scattered": "direct(window=32)",
    "Alltoall_intra_brucks": "bruck",
    "Alltoallv_intra_scattered": "direct(window=32)",
}
MOST_DEPTH = 64
AS_IF_EQUAL = ("comm_size",)  #: whose < MPICH 5.0.2 takes for <=, as messages show (docs/tuning.md): none is written
BOUND = re.compile(r"(comm_size|avg_msg_size|total_msg_size)(<=?)(\d{1,18})")

Tree = Mapping[str, Any]


def export(rules: Sequence[Rule], target: Mpi) -> str:
    """The text of a file for this MPICH.

    Raises
    ------
    SwapmeetError
        If the library holds no tree, or rules name nothing that MPICH could do.
    """
    built = built_in(target)
    if built is None:
        raise SwapmeetError(f"{target.name}: its library holds no selection of algorithms, as that of MPICH 4 does")
    tree, changed = dict(built), False
    for collective in ("alltoall", "alltoallv"):
        lines = foreign.shares(rules, collective, algorithm)
        if foreign.decided(lines):
            changed = True
            tree[f"collective={collective}"] = _replaced(tree[f"collective={collective}"], lines)
    if not changed:
        raise SwapmeetError("no rule is for an algorithm that MPICH has: there is nothing to export")
    return json.dumps(tree, indent=1) + "\n"


def algorithm(collective: str, messages: str) -> str | None:
    """MPICH's for a kind of messages (foreign.kind), with its parameter; None: it has none."""
    if collective == "alltoallv":
        return ALLTOALLV.get(messages)
    radix = messages.startswith("radix=")
    return ALLTOALL.get(messages, f"{RADIX} k={messages[6:]}" if radix else None)


def _replaced(tree: Tree, lines: Sequence[tuple[int, Sequence[Share]]]) -> Tree:
    """The tree of one collective with these lines where it is not in place."""
    own = tree["comm_type=intra"]["is_sendbuf_inplace=no"]
    sizes: dict[str, Any] = {}
    if lines[0][0] > 0:
        sizes[f"comm_size<={lines[0][0] - 1}"] = own
    for _, most, line in foreign.lines_of(lines):
        sizes["comm_size=any" if most is None else f"comm_size<={most}"] = _line(line, own)
    intra = {**tree["comm_type=intra"], "is_sendbuf_inplace=no": sizes}
    return {**tree, "comm_type=intra": intra}


def _line(line: Sequence[Share], own: Tree) -> Tree:
    def leaf(share: Share) -> Tree:
        if share.algorithm is None:
            return own
        name, _, radix = share.algorithm.partition(" ")
        return {f"{PREFIX}{name}": {radix: {}} if radix else {}}

    if len(line) == 1:
        return leaf(line[0])
    bounds = [f"avg_msg_size<{after.least}" for after in line[1:]]
    return dict(zip([*bounds, "avg_msg_size=any"], map(leaf, line), strict=True))


def built_in(target: Mpi) -> Tree | None:
    """The tree that a MPICH uses without a file: the library of MPICH 4 and later holds the text."""
    content = target.libmpi.read_bytes() if target.libmpi and target.kind == "mpich" else b""
    for match in re.finditer(rb'\{"collective=[^\0]{100,200000}\}', content):
        tree = json.loads(match[0])
        if PREFIX in str(tree.get("collective=alltoall", "")):
            return dict(tree)
    return None


def read(path: Path) -> Tree:
    """The tree of a file.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    tree = document(text_of(path, foreign.MOST_BYTES), str(path))
    if not isinstance(tree, dict) or not any(key.startswith("collective=") for key in tree):
        raise SwapmeetError(f'{path}: no selection of MPICH: it has no "collective=..."')
    return tree


def theirs(tree: Tree, call: Call, source: str) -> Theirs | None:
    """What MPICH does with a call that is not in place; None if the tree has nothing on it."""
    node: Any = tree.get(f"collective={call.collective}")
    path: list[str] = []
    while isinstance(node, dict) and len(path) < MOST_DEPTH:
        key = next((key for key in node if _holds(key.replace(" ", ""), call, source)), None)
        if key is None:
            return None
        path.append(key)
        if key.startswith(("algorithm=", "composition=")):
            name = key.partition("=")[2].removeprefix("MPIR_")
            given = ",".join(node[key]) if isinstance(node[key], dict) else ""
            radix = re.fullmatch(r"k=(\d{1,9})", given)
            spec = f"bruck(radix={radix[1]})" if name == RADIX and radix else OURS.get(name)
            return Theirs(f"{name}{f'({given})' if given else ''}", spec, f"{source}: {' / '.join(path)}")
        node = node[key]
    return None


def _holds(key: str, call: Call, source: str) -> bool:
    """Whether a condition holds for a call."""
    one_node = call.per_node is None or call.per_node >= call.ranks
    known = {
        "comm_type=intra": True,
        "comm_type=inter": False,
        "is_sendbuf_inplace=yes": False,
        "is_sendbuf_inplace=no": True,
        "comm_size=pow2": call.ranks & (call.ranks - 1) == 0,
        "comm_size=node_comm_size": one_node,
        "comm_hierarchy=parent": not one_node and (call.per_node or 0) > 1,
        "comm_hierarchy=flat": one_node or call.per_node == 1,
    }
    if key.startswith(("algorithm=", "composition=")) or key.endswith("=any"):
        return True
    if key in known:
        return known[key]
    bound = BOUND.fullmatch(key)
    if bound is None:
        raise SwapmeetError(f'{source}: "{key[:60]}" is no condition that can be told of a call here')
    total = call.block_bytes * call.ranks
    value = {"comm_size": call.ranks, "avg_msg_size": call.block_bytes, "total_msg_size": total}[bound[1]]
    or_equal = bound[2] == "<=" or bound[1] in AS_IF_EQUAL
    return value <= int(bound[3]) if or_equal else value < int(bound[3])
