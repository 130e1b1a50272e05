"""Reading measurements of others: four forms, and what is wrong with a file, by file and line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import SwapmeetError
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import COLUMNS, Measured, by_place, published, read

HEADER = "system,nodes,ranks_per_node,ranks,algorithm,block_bytes,median_us,q25_us,q75_us,samples,run"
LINE = "here,2x2,4,16,pairwise,64,10.5,10,11,30,monday"
PICO = "collective_type,array_dim,buffer_size,algo_name,median,nnodes,tasks_per_node,system,percentile_25,percentile_75"
OSU = """# OSU MPI All-to-All Personalized Exchange Latency Test v7.5
# swapmeet system=here nodes=16 ranks=512 algorithm=native
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                      12.50
4096                 2000.75
"""
VALIDATED = OSU.replace("Avg Latency(us)", "Avg Latency(us)  Validation").replace("0.75", "0.75  Pass")
VALIDATED = VALIDATED.replace("12.50", "12.50  Pass")


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_published_measurements_are_whole() -> None:
    cells = published()
    places = by_place(cells)
    assert len(cells) == 214
    assert [(place, len(some)) for place, some in places.items()] == [
        (("fugaku", "2x2x2", 8), 9),
        (("fugaku", "8x8x8", 512), 7),
        (("mare_nostrum", "32", 32), 8),
    ]
    assert algorithms.unknown({one.algorithm for one in cells}) == []
    linear = places["mare_nostrum", "32", 32][8]["linear_ompi"]
    assert (linear.us, linear.low_us, linear.high_us, linear.samples) == (9.519, 9.338, 9.731, 16000)
    for one in cells:
        assert 0 < one.low_us <= one.us <= one.high_us


def test_our_csv(tmp_path: Path) -> None:
    (one,) = read([write(tmp_path, f"{HEADER}\n{LINE}\n")])
    assert one == Measured("here", "2x2", 4, 16, "pairwise", 64, 10.5, 10, 11, 30)
    short = ",".join(COLUMNS) + "\nhere,4,1,4,pairwise,64,10.5\n"
    assert read([write(tmp_path, short)]) == [Measured("here", "4", 1, 4, "pairwise", 64, 10.5, 10.5, 10.5)]


def test_picos_summary_is_in_ns_and_its_buffer_for_all_ranks(tmp_path: Path) -> None:
    lines = [
        PICO,
        "ALLREDUCE,8,32,ring,9,4,1,there,8,10",
        "ALLTOALL,64,256,linear_ompi,9500,4,2,there,9000,10000",
        "ALLTOALL,64,256,pairwise_ompi,7500,2x2x2,1,there,,",
    ]
    assert read([write(tmp_path, "\n".join(lines))]) == [
        Measured("there", "4", 2, 8, "linear_ompi", 32, 9.5, 9, 10),
        Measured("there", "2x2x2", 1, 8, "pairwise_ompi", 32, 7.5, 7.5, 7.5),
    ]


def test_picos_rows_of_device_memory_are_left_out(tmp_path: Path) -> None:
    lines = [f"{PICO},CUDA", "ALLTOALL,64,256,linear_ompi,9500,4.0,2,there,,,False"]
    lines.append("ALLTOALL,64,256,linear_ompi,1500,4.0,2,there,,,True")
    assert [one.us for one in read([write(tmp_path, "\n".join(lines))])] == [9.5]
    with pytest.raises(SwapmeetError, match="no MPI_Alltoall was measured"):
        read([write(tmp_path, f"{lines[0]}\n{lines[2]}")])


def test_a_byte_order_mark_and_comments_come_before_a_csv(tmp_path: Path) -> None:
    text = f"\ufeff# by hand\n\n{HEADER}\n{LINE}\n"
    assert [one.us for one in read([write(tmp_path, text)])] == [10.5]
    with pytest.raises(SwapmeetError, match="line 4: expected a positive number in median_us"):
        read([write(tmp_path, text.replace("10.5", "x"))])


def test_published_may_stand_beside_a_file(tmp_path: Path) -> None:
    assert len(read([Path("published"), write(tmp_path, f"{HEADER}\n{LINE}\n")])) == len(published()) + 1


def test_osus_columns_and_words(tmp_path: Path) -> None:
    (one, _) = read([write(tmp_path, VALIDATED.replace("ranks=512", "ranks=9 ranks_per_node=1"))])
    assert (one.us, one.per_node, one.ranks) == (12.5, 1, 9)
    spec = "algorithm='direct(order=shift, window=4)'"
    (one, _) = read([write(tmp_path, OSU.replace("algorithm=native", spec))])
    assert one.algorithm == "direct(order=shift, window=4)"


def test_osus_text_wants_what_osu_does_not_say(tmp_path: Path) -> None:
    small, large = read([write(tmp_path, OSU)])
    assert small == Measured("here", "16", 32, 512, "native", 1, 12.5, 12.5, 12.5)
    assert (large.block_bytes, large.us) == (4096, 2000.75)
    bare = OSU.replace("# swapmeet system=here nodes=16 ranks=512 algorithm=native\n", "")
    with pytest.raises(SwapmeetError, match="line 4: expected a line before it with system, nodes, ranks"):
        read([write(tmp_path, bare)])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: expected the columns of our CSV"),
        ("time,place\n1,2\n", 'line 1: expected .*, not "time,place"'),
        (HEADER.replace("median_us", "us"), r"line 1: expected .*\(missing median_us\)"),
        (f"{HEADER}\n{LINE},more\n", "line 2: expected 11 fields"),
        (f"{HEADER}\n{LINE}\nhere,4\n", "line 3: expected 11 fields"),
        (f"{HEADER}\n{LINE.replace('10.5', 'fast')}", 'line 2: expected a positive number in median_us, not "fast"'),
        (f"{HEADER}\n{LINE.replace('10.5', '-1')}", "line 2: expected a positive number in median_us"),
        (f"{HEADER}\n{LINE.replace('10.5', 'nan')}", "line 2: expected a positive number in median_us"),
        (f"{HEADER}\n{LINE.replace('10.5', '12')}", "line 2: expected q25_us <= median_us <= q75_us, not 10, 12, 11"),
        (f"{HEADER}\n{LINE.replace('2x2', '2y2')}", 'line 2: expected nodes such as 32 or 8x8x8 in nodes, not "2y2"'),
        (f"{HEADER}\n{LINE.replace(',16,', ',17,')}", "line 2: expected at most 16 ranks on 2x2 nodes of 4, not 17"),
        (f"{HEADER}\n{LINE.replace(',64,', ',6.5,')}", "line 2: expected a whole number from 1 to .* in block_bytes"),
        (f"{HEADER}\n{LINE.replace('pairwise', '')}", "line 2: expected a name in algorithm"),
        (f"{HEADER}\n{LINE}\n{LINE}\n", "line 3: expected each algorithm once in a cell, not pairwise again"),
        (f"{PICO}\nALLTOALL,64,255,linear_ompi,9500,4,2,there,,", "line 2: expected a buffer_size that 8 ranks share"),
        (OSU.replace("12.50", ""), "line 5: expected 2 fields"),
        (OSU.replace("12.50", "fast"), r"line 5: expected a positive number in Avg Latency\(us\)"),
        (OSU.replace("MPI All-to-All Personalized Exchange", "MPI Allreduce"), "line 1: expected MPI All-to-All Pers"),
        (OSU.replace("All-to-All", "All-to-Allv"), "line 1: expected MPI All-to-All Personalized Exchange"),
        (OSU.replace("MPI All", "MPI Non-blocking All"), "line 1: expected MPI All-to-All Personalized Exchange"),
        (OSU.replace("Avg Latency(us)", "Bandwidth (MB/s)"), "line 4: expected # Size  Avg Latency"),
        (OSU.replace("Avg Latency(us)", "Overall(us)  Compute(us)"), "line 4: expected # Size  Avg Latency"),
        ("\n".join(OSU.splitlines()[1:]), "line 4: expected the lines of osu_alltoall before it that name its test"),
        (OSU.replace("# Size       Avg Latency(us)\n", ""), "line 4: expected .* that name its columns"),
        (VALIDATED.replace("2000.75  Pass", "2000.75  Fail"), 'line 6: expected Pass in Validation, not "Fail"'),
        (OSU.replace("ranks=512", "ranks=512 ranks=16"), 'line 2: expected # swapmeet .*, each once, not "ranks"'),
        (OSU.replace("ranks=512", "ranks=512 cores=4"), 'line 2: expected # swapmeet .*, each once, not "cores"'),
        (OSU.replace("ranks=512", "ranks=9"), "line 5: expected ranks_per_node=..., as 16 nodes do not share 9 ranks"),
        (OSU.replace("ranks=512", "ranks=9 ranks_per_node=0.5"), "line 5: expected a whole number from 1"),
        (OSU.replace("ranks=512", "ranks=33 ranks_per_node=2"), "line 5: expected at most 32 ranks on 16 nodes of 2"),
        (OSU.replace("algorithm=native", "algorithm='x"), "line 2: expected # swapmeet .*No closing quotation"),
        (f"{HEADER},median_us\n{LINE},9\n", "line 1: expected each column once, not median_us again"),
        (f"{HEADER}\n{LINE.replace('10.5', '1_0')}", 'line 2: expected a positive number in median_us, not "1_0"'),
        (f"{HEADER}\n{LINE.replace('10.5', chr(0x661))}", "line 2: expected a positive number in median_us"),
        (f"{HEADER}\n{LINE.replace('2x2', chr(0x662))}", "line 2: expected nodes such as 32"),
        (f"{PICO},CUDA\nALLTOALL,64,256,linear_ompi,9500,4,2,there,,,maybe", "line 2: expected true or false in CUDA"),
        (OSU.replace("ranks=512", "ranks"), "line 2: expected # swapmeet system=... nodes=..."),
        (OSU.replace("ranks=512", ""), "line 5: expected a line before it with ranks"),
        ('{"type":"samples"}\n', 'line 1: the first line must be of "type":"campaign"'),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SwapmeetError, match=f"data.csv, {problem}"):
        read([write(tmp_path, text)])


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SwapmeetError, match="No such file"):
        read([tmp_path / "none.csv"])
    with pytest.raises(SwapmeetError, match="no MPI_Alltoall was measured"):
        read([write(tmp_path, HEADER)])
    path = tmp_path / "data.csv"
    path.write_bytes(f"{HEADER}\n".encode() + b"\xff\xfe\n")
    with pytest.raises(SwapmeetError, match="line 2: expected text in UTF-8"):
        read([path])


@settings(max_examples=examples(200))
@given(st.text(max_size=300) | st.lists(st.text(max_size=30)).map(lambda cells: f"{HEADER}\n{','.join(cells)}"))
def test_no_text_ends_the_program(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "data.csv"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(SwapmeetError):
        read([path])


def test_names_are_known_or_listed() -> None:
    assert algorithms.find("tra(r=4)") == algorithms.Algorithm("tra(r=4)", "a spec of ours")
    names = {"pairwise_ompi", "spread-out", "native", "blacc9d", "tra(r=0)", "ring"}
    assert algorithms.unknown(names) == ["blacc9d", "ring", "tra(r=0)"]


def test_our_json_lines(tmp_path: Path) -> None:
    from plots.synthetic import write as write_results

    path = write_results(tmp_path / "results.jsonl", specs=("pairwise", "tra(r=2)"), sizes=(8, 64), noise=0.001)
    cells = read([path])
    assert {one.algorithm for one in cells} == {"native", "pairwise", "tra(r=2)"}
    assert {one.block_bytes for one in cells} == {8, 64}
    assert all(one.samples > 1 and one.low_us <= one.us <= one.high_us for one in cells)


@pytest.mark.parametrize(
    ("nodes", "notes", "place"),
    [
        ("2", (), ("3", 2)),  # SWAPMEET_NODES: ranks of each node
        ("4+2", (), ("2", 4)),
        ("2/4", (), ("2", 4)),
        ("", ("nodes: 3",), ("3", 2)),
        ("", (), ("1", 6)),
    ],
)
def test_nodes_of_our_json_lines(tmp_path: Path, nodes: str, notes: tuple[str, ...], place: tuple[str, int]) -> None:
    from plots.synthetic import write as write_results

    path = write_results(tmp_path / "results.jsonl", ranks=(6,), nodes=nodes, notes=notes)
    assert {(one.nodes, one.per_node, one.ranks) for one in read([path])} == {(*place, 6)}


def test_nodes_that_no_description_prices_are_refused(tmp_path: Path) -> None:
    from plots.synthetic import write as write_results

    for nodes in ("cyclic:3", "2+4", "0,1,0,2,1,1", "many"):
        path = write_results(tmp_path / "results.jsonl", ranks=(6,), nodes=nodes)
        with pytest.raises(SwapmeetError, match="expected nodes of as many ranks each, in order"):
            read([path])


def test_simulated_json_lines_have_the_shape_of_their_torus() -> None:
    path = Path(__file__).parents[2] / "docs" / "validation" / "simulated-fugaku.jsonl"
    assert {(one.nodes, one.per_node, one.ranks) for one in read([path])} == {("2x2x2", 1, 8)}


def test_json_lines_are_read_once_and_whole(tmp_path: Path) -> None:
    from plots.synthetic import write as write_results

    path = write_results(tmp_path / "results.jsonl")
    cells, content = read([path]), path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert read([path]) == cells
    end, begin = os.pipe()
    os.write(begin, content)
    os.close(begin)
    assert read([Path(f"/dev/fd/{end}")]) == cells
    os.close(end)
    path.write_bytes(content[:-9])
    with pytest.raises(SwapmeetError, match=f"line {len(content.splitlines())}: expected a whole line"):
        read([path])
