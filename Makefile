# Every target sets up what it needs: Python 3.11 with pip is enough to begin with.
# Environments are built once, outside the clone (see demo/environment.py).
SHELL := /bin/bash
PYTHON ?= python3
# Evaluated once, when a target first needs it; building it shows its progress on stderr.
PY = $(eval PY := $$(shell $(PYTHON) -m demo.environment development))$(PY)

# What `soak` runs: all, or `make soak SOAK="tests/e2e -k kill_sqlite"`; and for how many
# times the usual length, which is about half an hour: `make soak TIMES=6`.
TIMES ?= 1
SOAK ?= tests/e2e -m soak

# Two tests at a time, one for each of the two cores that continuous integration has.
PYTEST = $(PY) -m pytest -n 2

# Runs a part of `test` and says how long it took.
part = @started=$$SECONDS; $(MAKE) --no-print-directory $(1) && echo "== $(1): $$((SECONDS - started)) s"

.PHONY: help demo test check hosted unit bundle release hosts e2e bench soak format

help: ## show this list
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## a real Open WebUI with the plug-in on http://127.0.0.1:8080 (PORT=8090 make demo: another port)
	$(PYTHON) -m demo

test: ## everything: checks, unit tests, the bundle in its hosts, end to end on 0.12.4 and 0.9.6
	$(call part,check)
	$(call part,hosted)
	$(call part,unit)
	$(call part,e2e)

check: ## lint, types, generated files fresh
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright --pythonpath $(PY)
	$(PY) -m interrogate -q src tools demo benchmarks
	$(PY) -m tools.bundle --check
	$(PY) -m tools.valves_doc --check

hosted:
	$(PYTHON) -m demo.environment 0.12.4 0.9.6

unit: hosted ## unit tests, and the bundle in the interpreters of 0.12.4 and 0.9.6
	$(PYTEST) --ignore tests/e2e --dist worksteal

e2e: hosted bundle ## end-to-end scenarios on real servers, newest and oldest supported release
	$(PYTEST) tests/e2e --hosts 0.12.4,0.9.6 --durations 10

hosts: bundle ## end-to-end scenarios and bundle tests on all four supported releases, and on Python 3.12
	$(PYTHON) -m demo.environment 0.12.4 0.12.4-py3.12 0.11.4 0.10.2 0.9.6
	$(PYTEST) tests/bundle --hosts all --dist worksteal
	$(PYTEST) tests/e2e --hosts all --durations 10

bundle: ## write the generated files: adaptive_memory.py and valves.md
	$(PY) -m tools.bundle
	$(PY) -m tools.valves_doc

release: ## is the committed file what the source makes, and its version the changelog's? and its SHA-256
	$(PY) -m tools.bundle --check
	sha256sum adaptive_memory.py

bench: bundle ## measure; results go to benchmarks/results/
	$(PY) -m benchmarks

soak: bundle ## long runs that are too slow for `test`; results go to benchmarks/results/
	$(PYTHON) -m demo.environment 0.12.4 0.9.6 services
	$(PY) -m pytest $(SOAK) --hosts 0.12.4,0.9.6 --soak --soak-times $(TIMES)

format: ## apply the formatter
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
