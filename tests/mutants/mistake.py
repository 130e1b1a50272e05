"""What an entry of the list is (mistakes.py reads all of them)."""

from __future__ import annotations

from typing import NamedTuple

CHECK, TEST = "check", "test"  #: the least of make's targets whose tests are to notice a mistake


class Mistake(NamedTuple):
    """Replaces `old`, which occurs once in a file of src/, by `new`.

    The text is an expression, or ends in ; or } and is then one or more statements without declarations. Where it is
    neither, `new` holds the word MUTANT, which is the condition under which the mistake is made, and replaces `old`
    always.
    """

    name: str
    wrong: str  #: in a sentence
    file: str
    old: str
    new: str
    by: str  #: CHECK or TEST
    tests: tuple[str, ...]  #: that are expected to fail


CORE, MPI = "tests/core/", "tests/mpi/"
SUITE = MPI + "conformance_test.py::test_conforms"
BY_ROWS, BY_PAIRS = f"{SUITE}[openmpi-3-shared-memory]", f"{SUITE}[openmpi-3-pairwise]"
BY_SEGMENTS = f"{SUITE}[mpich-2-random-segmented]"
UNEQUAL = MPI + "conformance_test.py::test_blocks_of_unequal_size_conform"
BY_SIZES, BY_PADDING = f"{UNEQUAL}[openmpi-tuna(r=3)-2]", f"{UNEQUAL}[openmpi-padded-bruck-7]"
BY_HEADS = f"{UNEQUAL}[openmpi-two-phase-bruck-7]"
BY_LIMIT = MPI + "varying_test.py::test_below_the_scratch_limit_less_is_passed_on[openmpi-bruck]"
BY_TYPES = MPI + "typemaps_test.py::test_random_types[openmpi-1]"
BY_ONE_COUNT = MPI + "errors_test.py::test_all_that_lack_data_for_a_count_of_one_rank_get_an_error[openmpi-tra(r=2)-2]"
AGAIN = MPI + "progress_test.py::test_arguments_of_an_earlier_one[openmpi-auto]"
NOBODY = MPI + "statistics_test.py::test_blocks_for_nobody_are_not_counted[openmpi-auto]"
