# Two commands do everything on a fresh machine: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE_SERVERS := @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31

.DEFAULT_GOAL := help
.PHONY: help install run test quick check format snapshots fuzz bench catalogues lock clean

help: ## list the targets
	@grep -E '^[a-z./]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements/run.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q agent_cli
	@touch $@

$(VENV)/installed-dev: requirements/dev.txt $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/installed-node: $(VENV)/installed-dev
	@if ! command -v npm >/dev/null; then echo "No npm: the tests with MCP servers from there are skipped."; \
	elif npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/node $(NODE_SERVERS); then touch $@; \
	else echo "npm failed: the tests with MCP servers from there are skipped."; fi

install: $(VENV)/installed ## create .venv and install the program into it

run: install ## install and start the agent
	@$(BIN)/agent

test: $(VENV)/installed-dev $(VENV)/installed-node ## install the test tools and run every test
	$(BIN)/python -m pytest -n auto

quick: $(VENV)/installed-dev ## what breaks most often, in half a minute
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/test_architecture.py tests/unit/lib/test_catalogues.py tests/unit/tools/test_tools_page.py \
	  tests/unit/frontends/test_keys.py tests/docs/test_commands_page.py tests/docs/test_examples.py \
	  tests/screens/test_snapshots.py::test_help -k "not harmless"

snapshots: $(VENV)/installed-dev ## write the pictures of the screen again; look at the diff
	UPDATE_SNAPSHOTS=1 $(BIN)/python -m pytest -n auto tests/screens

check: $(VENV)/installed-dev ## linters, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/installed-dev ## 20,000 shell commands against the analysis, 3,000 sequences against undo, 300 kills
	KILLS=300 $(BIN)/python -m pytest tests/e2e/test_kill.py
	SHELL_FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest tests/unit/safety/test_shell_fuzz.py
	UNDO_EXAMPLES=3000 HYPOTHESIS_EXPLORE=1 $(BIN)/python -m pytest --timeout=0 \
	  tests/turns/test_undo_property.py tests/unit/storage/test_undo_killed.py

bench: $(VENV)/installed-dev ## measure what we promise
	$(BIN)/python -m bench

config.example.toml: $(VENV)/installed agent_cli/config/schema.py ## write the example from the schema
	$(BIN)/python -c "from agent_cli.config.example import example; print(example(), end='')" > $@

docs/configuration.md: $(VENV)/installed agent_cli/config/schema.py agent_cli/config/settings_reference.py ## write the reference from the schema
	$(BIN)/python -c "from agent_cli.config.settings_reference import reference; print(reference(), end='')" > $@

docs/tools-reference.md: $(VENV)/installed-dev docs/tools_reference.py $(wildcard agent_cli/tools/*) ## write the tools reference from the registry
	$(BIN)/python docs/tools_reference.py > $@

docs/commands.md: $(VENV)/installed-dev docs/commands_reference.py agent_cli/frontends/shared/keys.py $(wildcard agent_cli/commands/*) ## write the page of commands and keys
	$(BIN)/python docs/commands_reference.py > $@

catalogues: $(VENV)/installed-dev ## bring the translations up to date with what is said
	$(BIN)/python -m tests.kit.catalogues

lock: $(BIN)/python ## pin the dependencies again (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  pyproject.toml requirements/build.in -o requirements/run.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  pyproject.toml --extra acp --extra docs --extra otel --extra web --group dev requirements/build.in -c requirements/run.txt -o requirements/dev.txt

clean: ## remove what was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
