# SPDX-License-Identifier: MIT
# instances/ -> kiln-gen -> compilers -> modules.  Each folder of INSTANCES gives modules of its own: the project's
# instances/ into $(BUILD)/lib/kiln, where libkiln looks first; any other folder DIR into $(BUILD)/modules/DIR, for
# KILN_MODULE_PATH.
KNOWN_TARGETS := $(patsubst templates/targets/%.lua,%,$(wildcard templates/targets/*.lua))
INSTANCES ?= instances
override INSTANCES := $(call relative,$(INSTANCES))

gen_dir = $(if $(filter instances,$1),$(BUILD)/gen,$(BUILD)/modules/$(notdir $(1:/=))/gen)
lib_dir = $(if $(filter instances,$1),$(BUILD)/lib/kiln,$(BUILD)/modules/$(notdir $(1:/=)))

# Without TARGETS: the host, gfx942, what this machine's own GPU needs, and what was built before, lest it grow old.
ifeq ($(origin TARGETS),undefined)
BUILT := $(filter $(KNOWN_TARGETS:%=libkiln-%.so),$(notdir $(foreach d,$(INSTANCES),$(wildcard $(call lib_dir,$d)/libkiln-*.so))))
TARGETS := $(sort host gfx942 $(shell mk/detect.sh) $(BUILT:libkiln-%.so=%))
# Of those nobody asked for, the ones that nothing here compiles are left out.
OPTIONAL := $(TARGETS)
endif

# Probes anew when another hipcc or nvcc is found; unchanged, the file stays as it is.
$(BUILD)/toolchain.mk: FORCE | $(DEPS)
	$(Q)BUILD=$(BUILD) mk/toolchain.sh $@

# Folders are told apart by their last name; make's lists know no spaces or quotes in names.
check_folders = $(foreach d,$(INSTANCES),$(if $(findstring ',$d)$(if $(wildcard $d/.),,x),\
    $(error INSTANCES: there is no folder $d (names with spaces or quotes are not taken)))) \
    $(if $(filter-out $(words $(INSTANCES)),$(words $(sort $(notdir $(INSTANCES:/=))))),\
    $(error INSTANCES: two folders with one last name would share build/modules/NAME; rename one))

# Every run asks kiln-gen's stamp and the objects' ages; nothing out of date means nothing done.
instances: $(BUILD)/bin/kiln-gen $(BUILD)/toolchain.mk ## compile INSTANCES for TARGETS into modules
	$(check_folders)$(Q)$(foreach d,$(INSTANCES),$(MAKE) -f mk/instances.mk DIR='$d' OUT='$(call gen_dir,$d)' LIB='$(call lib_dir,$d)' \
	    BUILD=$(BUILD) TARGETS='$(sort $(TARGETS))' OPTIONAL='$(OPTIONAL)' CC='$(CC)' V=$(V) &&) true

.PHONY: FORCE
FORCE:
