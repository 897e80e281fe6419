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

test-long: data ## kernels without a check in further ways, every way in which an exception of handlers can return, the gateway on mps2-an505, the soft core with Sv32, the tests of its modules and models, a thousand random systems on each of two boards, 50 on the soft core, 200 000 in virtual time, and 100 000 hostile cases on each board, the longest paths of the kernel against what admission assumes, the histories on the soft core, hours of processor time; docs/hunt.md has the last result
	@scripts/test.sh long
	@./cofferdam costs --board mps2-an500
	@./cofferdam costs --board xilinx-zynq-a9
	@./cofferdam costs --board ibex-rtmmu
	@scripts/hunt.sh --board mps2-an500 --systems 1000 --seed 2 --resume
	@scripts/hunt.sh --board xilinx-zynq-a9 --systems 1000 --seed 2 --resume
	@scripts/hunt.sh --board ibex-rtmmu --systems 50 --seed 2 --resume
	@./cofferdam bench
	@./cofferdam bench --only traces

lint: ## formatting, clippy, the layer rule, file sizes, portable code built for two further targets, the hardware of the soft core
	@scripts/setup.sh --quiet --lint
	@scripts/lint.sh

prove: ## the proofs about the hardware of the soft core, and the mutants that they refute; part of `make test`
	@$(MAKE) --no-print-directory -C rtl prove

bench: data ## the tables of figures, also in target/bench/bench.json; the histories on the soft core, table I of RTMMU, take two hours of it
	@make --no-print-directory -C rtl models MODELS='rtmmu direct sv32 sv32tlb'
	@./cofferdam bench
	@./cofferdam bench
	@./cofferdam bench --only traces

hunt: ## random admitted systems, some threads hostile, on three boards; `scripts/hunt.sh --help` lists options
	@scripts/setup.sh --quiet
	@scripts/hunt.sh

clean: ## remove what was built (fetched data and Python packages too)
	rm -rf target
