# SPDX-License-Identifier: MIT
# Modules of one instance folder: DIR (sources), OUT (generated), LIB (modules), TARGETS; SCHEDULES, a folder with targets/
# and gemm/, in place of templates/.  A make of its own, because its rules come from what kiln-gen writes.
include $(BUILD)/toolchain.mk
Q := $(if $(V),,@)
GEN := $(BUILD)/bin/kiln-gen
SCHEDULES ?= templates
STAMP := $(OUT)/generated.stamp

all: modules
# Generation, when an input is newer or TARGETS changed.  kiln-gen itself rewrites only what changed.
$(OUT)/targets: FORCE
	$(Q)mkdir -p $(@D); echo '$(TARGETS)' | cmp -s - $@ || echo '$(TARGETS)' >$@
$(STAMP): $(GEN) $(OUT)/targets $(wildcard $(DIR) $(DIR)/*.lua) $(wildcard $(SCHEDULES)/targets/* $(SCHEDULES)/gemm/*)
	$(Q)$(if $(V),,printf 'GEN     %s\n' '$(DIR)';) $(GEN) --templates $(SCHEDULES) --out $(OUT) $(TARGETS:%=--target %) $(DIR)
	$(Q)touch $@
ifeq ($(SECOND),)
# First pass generates, second compiles with the rules that the first one wrote; a dry run counts the steps.
modules: $(STAMP)
	$(Q)steps=$$($(MAKE) -n -f mk/instances.mk SECOND=1 STEPS=0 modules 2>/dev/null | grep -c '^: STEP'); \
	    $(MAKE) -f mk/instances.mk SECOND=1 STEPS=$$steps modules
else
# A recipe, so that make has nothing to say where nothing is to be done.
modules:
	@:
DONE := 0
next = $(eval DONE := $(shell expr $(DONE) + 1))
say = $(if $(filter 0,$(STEPS)),: STEP,$(next)@printf '[%3d/%d] %-6s %s\n' $(DONE) $(STEPS) '$1' '$2')

define target_rules
include $(OUT)/$1/rules.mk
-include $$(wildcard $$(KILN_OBJECTS_$1:%=$(OUT)/%.d))
modules: $(LIB)/libkiln-$1.so
# A module's table is laid out by abi/'s headers.
$(LIB)/libkiln-$1.so: $(OUT)/$1/module.c $(wildcard abi/*.h) $$(KILN_OBJECTS_$1:%=$(OUT)/%)
	$$(call say,LINK,$1)
	$(Q)mkdir -p $$(@D) && $(GEN) --pack $(OUT)/$1
	$(Q)$(CC) -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -Iabi -I$(OUT)/$1 -Wa,-I$(OUT)/$1 -o $$@.tmp \
	    $(OUT)/$1/module.c $$(if $$(filter host,$1),$$(KILN_OBJECTS_$1:%=$(OUT)/%) -lm)
	$(Q)$(GEN) --seal $$@.tmp && mv -f $$@.tmp $$@
endef
$(foreach t,$(TARGETS),$(if $(wildcard $(OUT)/$t/rules.mk),$(eval $(call target_rules,$t))))

# Headers of the device code, and what each object read of them.
DEVICE = -Iabi -Itemplates/device -MMD -MP -MF $@.d
HOSTCC = $(CC) -O3 -std=gnu11 -fPIC -fopenmp-simd -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math $(KILN_HOST_CFLAGS)
$(OUT)/host/%.o: $(OUT)/host/%.c
	$(call say,CC,host/$*)
	$(Q)$(HOSTCC) $(KILN_FLAGS_host/$*.o) $(DEVICE) -c -o $@ $<
$(OUT)/%.co: $(OUT)/%.hip $(BUILD)/toolchain.mk
	$(call say,HIPCC,$*)
	$(Q)$(KILN_HIPCC_$(firstword $(subst /, ,$*))) $(KILN_FLAGS_$*.co) $(DEVICE) -o $@ $<
$(OUT)/%.cubin: $(OUT)/%.cpp $(BUILD)/toolchain.mk
	$(call say,HIPCC,$*)
	$(Q)$(KILN_HIPCC_$(firstword $(subst /, ,$*))) $(KILN_FLAGS_$*.cubin) $(DEVICE) -o $@ $<
endif
.PHONY: all modules FORCE
.DELETE_ON_ERROR:
FORCE:
