# SPDX-License-Identifier: MIT
# The one entry point; `make help` lists what it does.  Rules for parts live in mk/.
.DEFAULT_GOAL := all
include mk/paths.mk
include mk/common.mk
include mk/programs.mk
include mk/sim.mk
include mk/modules.mk
include mk/python.mk
include mk/tests.mk
include mk/install.mk

.PHONY: all programs instances run bench clean help
all: programs instances ## generator, library, tools and the default modules

run_rest = Built: $(words $(run_ops)) ops for $(HERE).  make builds all, for gfx942, too; \
    make instances OPS="swiglu" TARGETS="..." those named.
run: $(BUILD)/bin/kiln $(BUILD)/bin/llama_opt run-instances ## build what the main job needs, run it on the best device, verify it
	$(Q)$(BUILD)/bin/llama_opt
	$(Q)$(if $(run_ops),echo '$(run_rest)')

# Problems that `make bench` times; those of `make run` unless told otherwise.
BENCH ?= 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256' \
    'linear_relu_abde_i8 i8,i8,i8 rcr m=512 n=5120 k=5120 align=256'
bench: programs instances ## time BENCH='problem' ... beside the vendor's library
	$(Q)$(BUILD)/bin/kiln bench --peer all $(BENCH)

bench-host: programs instances $(BUILD)/tests/host_bench ## host kernels beside OpenBLAS, one and two threads
	$(Q)$(BUILD)/tests/host_bench

bench-rows: programs instances $(BUILD)/tests/rows_bench ## row-wise host kernels beside a copy of the same bytes, one and two threads
	$(Q)$(BUILD)/tests/rows_bench

bench-busy: programs instances $(BUILD)/tests/host_busy ## two host threads beside one, on a busy machine, too
	$(Q)$(BUILD)/tests/host_busy

clean: ## remove everything that was built
	$(Q)rm -rf $(BUILD)

help: ## this list
	@echo 'make [goal] [TARGETS="host gfx942"] [OPS="swiglu"] [INSTANCES=dir...] [V=1] [SAN=1] [PREFIX=/usr/local] [LIBDIR=lib] [DESTDIR=] [PYTHON=python3]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile mk/*.mk | expand -t 16
	@echo 'TARGETS known: $(KNOWN_TARGETS)'
