# SPDX-License-Identifier: MIT
# instances/ -> kiln-gen -> compilers -> modules.  Each folder of INSTANCES gives modules of its own: the project's
# instances/ into $(BUILD)/lib/kiln, where libkiln looks first; any other folder DIR into $(BUILD)/modules/DIR, for
# KILN_MODULE_PATH.
INSTANCES ?= instances
override INSTANCES := $(call relative,$(INSTANCES))

gen_dir = $(if $(filter instances,$1),$(BUILD)/gen,$(BUILD)/modules/$(notdir $(1:/=))/gen)
lib_dir = $(if $(filter instances,$1),$(BUILD)/lib/kiln,$(BUILD)/modules/$(notdir $(1:/=)))

LIBS = $(foreach d,$(INSTANCES),$(call lib_dir,$d))
include mk/targets.mk

# Probes anew when another hipcc or nvcc is found; unchanged, the file stays as it is.
$(BUILD)/toolchain.mk: FORCE | $(DEPS)
	$(Q)BUILD=$(BUILD) mk/toolchain.sh $@

# Folders are told apart by their last name; make's lists know no spaces or quotes in names.
check_folders = $(foreach d,$(INSTANCES),$(if $(findstring ',$d)$(if $(wildcard $d/.),,x),\
    $(error INSTANCES: there is no folder $d (names with spaces or quotes are not taken)))) \
    $(if $(filter-out $(words $(INSTANCES)),$(words $(sort $(notdir $(INSTANCES:/=))))),\
    $(error INSTANCES: two folders with one last name would share build/modules/NAME; rename one)) \
    $(if $(strip $(TARGETS)),,$(error TARGETS is empty: name some of $(KNOWN_TARGETS), or leave it out))

# Modules of the folders $1 for the targets $2, of the ops $3 (none: all).  Every run asks kiln-gen's stamp and the objects'
# ages; nothing out of date means nothing done.
build_modules = $(foreach d,$1,$(MAKE) -f mk/instances.mk DIR='$d' OUT='$(call gen_dir,$d)' LIB='$(call lib_dir,$d)' \
    BUILD=$(BUILD) TARGETS='$(sort $2)' OPS='$(sort $3)' OPTIONAL='$(OPTIONAL)' CC='$(CC)' V=$(V) &&) true
instances: $(BUILD)/bin/kiln-gen $(BUILD)/toolchain.mk ## compile INSTANCES (of them, OPS) for TARGETS into modules
	$(check_folders)+$(Q)$(call build_modules,$(INSTANCES),$(TARGETS),$(OPS))

# What the main job needs, for this machine alone: a first look should not wait for the rest.  Of a build that is whole
# nothing is taken away; of one that has some ops, none.
RUN_OPS := $(sort $(shell sed -n 's/^ *"\([a-z0-9_]*\) .* m=.*/\1/p' examples/llama_opt.c))
run_stamp := $(wildcard $(BUILD)/gen/generated.stamp)
run_has := $(if $(run_stamp),$(strip $(file <$(run_stamp))))
run_ops := $(if $(run_has)$(if $(run_stamp),,none),$(sort $(RUN_OPS) $(OPS) $(run_has)))
.PHONY: run-instances
run-instances: $(BUILD)/bin/kiln-gen $(BUILD)/toolchain.mk
	+$(Q)$(call build_modules,instances,$(HERE),$(run_ops))

.PHONY: FORCE
FORCE:
