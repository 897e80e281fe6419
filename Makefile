# The commands of Cofferdam. Each one sets up what it needs first (scripts/setup.sh, which skips what is present).
.DEFAULT_GOAL := help
.PHONY: help setup data demo check test test-long lint prove bench hunt clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "make %-9s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing (root needed only then), say what is present
	@scripts/setup.sh --cpp
	@scripts/fetch-data.sh

data:
	@scripts/setup.sh --quiet
	@scripts/fetch-data.sh

demo: data ## build, boot and report on the gateway example; ends with the path of the report
	@scripts/demo.sh

check: ## what a change must pass before others see it, in minutes: formats, clippy, tests on the host, a system on each kind of processor
	@scripts/setup.sh --quiet --cpp --lint
	@scripts/check.sh

test: data ## everything that must hold
	@scripts/setup.sh --quiet --cpp
	@scripts/test.sh

test-long: data ## what takes hours of processor time, part by part: every kernel without a check, every forged return, both gateways, longest paths, random systems on four boards and in virtual time, hostile cases, figures; goes on where it was interrupted, docs/hunt.md has the last result
	@scripts/setup.sh --quiet --cpp
	@scripts/test-long.sh

lint: ## formatting, clippy, the layer rule, file sizes, portable code built for two further targets, the hardware of the soft core
	@scripts/setup.sh --quiet --lint
	@scripts/lint.sh

prove: ## the proofs about the hardware of the soft core, and the mutants that they refute; part of `make test`
	@$(MAKE) --no-print-directory -C rtl prove

bench: data ## the tables of figures, also in target/bench/bench.json; the histories on the soft core, table I of RTMMU, take two hours of it
	@make --no-print-directory -C rtl models MODELS='rtmmu direct sv32 sv32tlb'
	@./cofferdam bench
	@./cofferdam bench --only traces

hunt: ## random admitted systems, some threads hostile, on three boards; `scripts/hunt.sh --help` lists options
	@scripts/setup.sh --quiet
	@scripts/hunt.sh

clean: ## remove what was built (fetched data and Python packages too)
	rm -rf target
