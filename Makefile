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
# Scenarios wait for their servers most of the time. What computes beside them takes what they
# leave, and gives way to them.
BESIDE = nice -n 10 $(PYTEST)
SCENARIOS = $(PYTEST) tests/e2e --durations 10

OLDEST_AND_NEWEST = 0.12.4,0.9.6

# Makes targets at once, and shows what each has to say when it is done.
AT_ONCE = @$(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)
# Runs a part of a target and says how long it took.
part = @started=$$SECONDS; $(1) && echo "== $@: $$((SECONDS - started)) s"

.PHONY: help demo test check lint types fresh hosted unit scenarios e2e hosts bundle-in-hosts \
	scenarios-on-hosts bundle release bench soak format

help: ## show this list
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## a real Open WebUI with the plug-in on http://127.0.0.1:8080 (PORT=8090 make demo: another port)
	$(PYTHON) -m demo

test: hosted ## checks, unit tests, the bundle in its hosts, end to end on 0.12.4 and 0.9.6
	$(AT_ONCE) check
	$(AT_ONCE) unit scenarios

check: lint types fresh ## lint, types, generated files fresh

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m interrogate -q src tools demo benchmarks

types:
	$(call part,$(PY) -m pyright --pythonpath $(PY))

fresh:
	$(PY) -m tools.bundle --check
	$(PY) -m tools.valves_doc --check

hosted:
	$(PYTHON) -m demo.environment 0.12.4 0.9.6

unit: hosted ## unit tests, and the bundle in the interpreters of 0.12.4 and 0.9.6
	$(call part,$(BESIDE) --ignore tests/e2e --dist worksteal)

scenarios: hosted
	$(call part,$(SCENARIOS) --hosts $(OLDEST_AND_NEWEST) -m "not slow")

e2e: bundle scenarios ## end-to-end scenarios on real servers, newest and oldest supported release

hosts: bundle ## end-to-end scenarios and bundle tests on all four releases and on Python 3.12, and slow scenarios
	$(PYTHON) -m demo.environment 0.12.4 0.12.4-py3.12 0.11.4 0.10.2 0.9.6
	$(AT_ONCE) bundle-in-hosts scenarios-on-hosts

bundle-in-hosts:
	$(call part,$(BESIDE) tests/bundle -m host --hosts all --dist worksteal)

scenarios-on-hosts:
	$(call part,$(SCENARIOS) --hosts all -m "every_release or slow")

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
	$(PY) -m pytest $(SOAK) --hosts $(OLDEST_AND_NEWEST) --soak --soak-times $(TIMES)

format: ## apply the formatter
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
