# SPDX-License-Identifier: MIT
# What `kiln build` runs, from a checkout's root or from share/kiln, which is never written to: modules of the folder DIR, of its
# OPS or all, for TARGETS into LIB, where what make needs lies, too; GEN is the kiln-gen to use.
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
MAKEFLAGS += --no-print-directory -r
LIBS := $(LIB)
include mk/targets.mk
$(foreach t,$(filter-out $(KNOWN_TARGETS),$(TARGETS)),$(error there is no target $t; known are $(KNOWN_TARGETS)))
$(if $(shell command -v $(firstword $(CC))),,$(error there is no $(firstword $(CC)), which modules are linked with; \
    install gcc, or name another C compiler in CC))

# Kernels for the host alone need no probing.
.PHONY: modules FORCE
modules: $(if $(filter-out host,$(TARGETS)),$(LIB)/toolchain/toolchain.mk)
	+$(if $(V),,@)$(MAKE) -f mk/instances.mk DIR='$(DIR)' OUT='$(LIB)/gen' LIB='$(LIB)' BUILD='$(LIB)/toolchain' GEN='$(GEN)' \
	    TARGETS='$(sort $(TARGETS))' OPS='$(sort $(OPS))' OPTIONAL='$(OPTIONAL)' CC='$(CC)' V=$(V)
$(LIB)/toolchain/toolchain.mk: FORCE
	$(if $(V),,@)BUILD='$(LIB)/toolchain' mk/toolchain.sh '$@'
FORCE:
