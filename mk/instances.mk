# SPDX-License-Identifier: MIT
# Modules of one instance folder: DIR (sources), OUT (generated), LIB (modules), GEN (the kiln-gen to use, if not BUILD's);
# TARGETS, of which those in OPTIONAL are left out where no compiler is; OPS, of those in DIR the ones to build, empty: all;
# SCHEDULES, a folder with targets/ and families, in place of templates/.  A make of its own, because its rules come from what
# kiln-gen writes.
include mk/paths.mk
SCHEDULES ?= templates
$(foreach v,BUILD DIR OUT LIB SCHEDULES,$(eval override $v := $(call relative,$($v)))$(call check_path,$v))
# make's lists are split at blanks, its rules at the rest.
SOURCES := $(wildcard $(DIR)/*.lua)
ODD := $(strip $(filter-out $(DIR)/%.lua,$(SOURCES)) $(foreach c,: ; |,$(foreach s,$(SOURCES),$(if $(findstring $c,$s),$s))))
$(if $(ODD),$(error $(DIR): make takes no blanks and none of : ; | in a file's name: rename $(ODD)))
# What compiles for GPUs; the host needs none of it.
ifeq ($(filter-out host,$(TARGETS)),)
-include $(BUILD)/toolchain.mk
else
include $(BUILD)/toolchain.mk
endif
Q := $(if $(V),,@)
GEN := $(if $(filter command,$(origin GEN)),$(GEN),$(BUILD)/bin/kiln-gen)
STAMP := $(OUT)/generated.stamp
TIMES := $(OUT)/times
# ccache, where it is, takes what is compiled; KILN_CCACHE names another, or empty none.
ifeq ($(origin KILN_CCACHE),undefined)
KILN_CCACHE := $(shell command -v ccache)
endif
# distcc, where it has hosts beside this one, compiles what is for the host; it knows no language of GPUs.  KILN_DISTCC names
# another, or empty none.
ifeq ($(origin KILN_DISTCC),undefined)
KILN_DISTCC := $(if $(filter-out localhost localhost/% 127.0.0.1 127.0.0.1/%,$(shell distcc --show-hosts 2>/dev/null)),distcc)
endif
# What kiln-gen reads of them, with what their files share; the folders, too, so that a file that goes is noticed.
READ := $(filter-out $(SCHEDULES)/device $(SCHEDULES)/device/%,$(wildcard $(SCHEDULES)/* $(SCHEDULES)/*/* $(SCHEDULES)/*/lib/*))

ifeq ($(SECOND),)
MISSING := $(foreach t,$(TARGETS),$(if $(KILN_HIPCC_$t),,$(if $(KILN_NEEDS_$t),$t)))
$(foreach t,$(filter-out $(OPTIONAL),$(MISSING)),$(error nothing here compiles $t; install: $(KILN_NEEDS_$t)))
$(foreach t,$(MISSING),$(info kiln: $t is left out, for nothing here compiles it; install: $(KILN_NEEDS_$t)))
override TARGETS := $(filter-out $(MISSING),$(TARGETS))
endif
# Sources are written for the other modules in LIB, too: so it is known which of them are out of date.
BUILT := $(patsubst $(LIB)/libkiln-%.so,%,$(wildcard $(LIB)/libkiln-*.so))
ALL := $(sort $(TARGETS) $(patsubst $(SCHEDULES)/targets/%.lua,%,$(wildcard $(BUILT:%=$(SCHEDULES)/targets/%.lua))))

all: modules
# Generation, when an input is newer, ALL or OPS changed.  kiln-gen itself rewrites only what changed.  The stamp says which
# ops there are now: of all nothing.
$(OUT)/targets: WANTED = $(ALL)
$(OUT)/ops: WANTED = $(sort $(OPS))
$(OUT)/targets $(OUT)/ops: FORCE
	$(Q)mkdir -p $(@D); echo '$(WANTED)' | cmp -s - $@ || echo '$(WANTED)' >$@
$(STAMP): $(GEN) $(OUT)/targets $(OUT)/ops $(wildcard $(DIR)) $(SOURCES) $(READ)
	$(Q)$(if $(V),,printf 'GEN     %s\n' '$(DIR)';) $(GEN) --templates $(SCHEDULES) --out $(OUT) $(ALL:%=--target %) $(OPS:%=--op %) $(DIR)
	$(Q)echo $(sort $(OPS)) >$@
ifeq ($(SECOND),)
# Each compiler once, with what it is for.
compiler = $(subst $(space),~,$(or $(KILN_COMPILER_$1),$(CC)))
compilers = $(subst ~, ,$(subst $(space),$(comma)~,$(strip $(foreach c,$(sort $(foreach t,$(TARGETS),$(call compiler,$t))),\
    $c~for$(subst $(space),,$(foreach t,$(TARGETS),$(if $(filter $c,$(call compiler,$t)),~$t)))))))
# First pass generates, second compiles with the rules that the first one wrote; a dry run of all that there is counts the
# steps, and finds the modules that this run leaves as they are though they are out of date.
modules: $(STAMP)
	$(Q)all=$$($(MAKE) -n -f mk/instances.mk SECOND=1 STEPS=0 TARGETS='$(ALL)' modules 2>/dev/null) && { echo "$$all" | grep -q '^: STEP' || exit 0; }; \
	    all=$$(echo "$$all" | sed -n 's/^: STEP //p'); \
	    steps=$$(echo "$$all" | grep -c $(foreach t,$(TARGETS),-e '^[A-Z]* $t/' -e '^LINK $t$$')); \
	    [ $$steps -eq 0 ] || echo 'WITH    $(compilers)$(if $(KILN_CCACHE),$(comma) ccache)$(if $(and $(filter host,$(TARGETS)),$(KILN_DISTCC)),$(comma) distcc for the host)'; \
	    rm -f $(TIMES); start=$$(date +%s%N); \
	    $(MAKE) -f mk/instances.mk SECOND=1 STEPS=$$steps TARGETS='$(TARGETS)' modules || exit; \
	    mk/built.sh $$start $(TIMES) $(TARGETS:%=$(LIB)/libkiln-%.so); rm -f $(TIMES); \
	    old=$$(echo "$$all" | sed -n 's/^LINK //p' | grep -vx $(TARGETS:%=-e %) | tr '\n' ' '); \
	    [ -z "$$old" ] || echo 'kiln: out of date in $(LIB) and left so, not being among TARGETS:' "$$old(without TARGETS, all are built)" >&2
else
# A recipe, so that make has nothing to say where nothing is to be done.
modules:
	@:
# Said by make itself: a process more for each of thousands of kernels takes as long as some of them.
DONE :=
next = $(eval DONE += x)$(if $(word 100,$(DONE)),,$(space))$(if $(word 10,$(DONE)),,$(space))$(words $(DONE))
say = $(if $(filter 0,$(STEPS)),: STEP $(strip $1) $2,$(info [$(next)/$(STEPS)] $1 $2))
# glibc's heap grows in few, large pieces, of large pages where the kernel has some: an eighth of ptxas's time, a thirtieth
# of clang's.
export GLIBC_TUNABLES ?= glibc.malloc.top_pad=33554432:glibc.malloc.hugetlb=1

define target_rules
include $(OUT)/$1/rules.mk
-include $$(wildcard $$(KILN_OBJECTS_$1:%=$(OUT)/%.d))
modules: $(LIB)/libkiln-$1.so
# A kernel for a GPU depends on what compiles it, too.
$$(KILN_OBJECTS_$1:%=$(OUT)/%): $(wildcard $(BUILD)/toolchain/$1)
# A module's table is laid out by abi/'s headers.
$(LIB)/libkiln-$1.so: $(OUT)/$1/module.c $(wildcard abi/*.h) $$(KILN_OBJECTS_$1:%=$(OUT)/%)
	$$(call say,LINK  ,$1)
	$(Q)mkdir -p $$(@D) && $(GEN) --pack $(OUT)/$1
	$(Q)$(CC) -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -Iabi -I$(OUT)/$1 -Wa,-I$(OUT)/$1 -o $$@.tmp \
	    $(OUT)/$1/module.c $$(if $$(filter host,$1),$$(KILN_OBJECTS_$1:%=$(OUT)/%) -lm)
	$(Q)$(GEN) --seal $$@.tmp && mv -f $$@.tmp $$@
endef
$(foreach t,$(TARGETS),$(if $(wildcard $(OUT)/$t/rules.mk),$(eval $(call target_rules,$t))))

# Headers of the device code; what each object read of them, make reads back.
DEVICE = -Iabi -Itemplates/device
TARGET = $(firstword $(subst /, ,$*))
# When each compiler began and ended, for mk/built.sh, and of how many kernels; the shell reads the clock by itself.
timed = read -r start _ </proc/uptime; $1 && read -r end _ </proc/uptime && echo "$$start $$end $2 $(or $(KILN_KERNELS_$(@:$(OUT)/%=%)),1)" >>$(TIMES)
kernelcc = $(or $(if $(KILN_CCACHE),$(KILN_CACHED_$(TARGET))),$(KILN_HIPCC_$(TARGET)))
# A CC that has ccache or distcc in it is used as it is.
through = $(if $(findstring ccache,$(CC))$(findstring distcc,$(CC)),,$(if $(KILN_CCACHE),$(if $(KILN_DISTCC),CCACHE_PREFIX=$(KILN_DISTCC)) $(KILN_CCACHE),$(KILN_DISTCC)))
HOSTCC = $(through) $(CC) -O3 -std=gnu11 -fPIC -fopenmp-simd -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math $(KILN_HOST_CFLAGS)
$(OUT)/host/%.o: $(OUT)/host/%.c
	$(call say,CC    ,host/$*)
	$(Q)$(call timed,$(HOSTCC) $(KILN_FLAGS_host/$*.o) $(DEVICE) -MMD -MP -MF $@.d -c -o $@ $<,host/$*)
compile = $(kernelcc) $(KILN_FLAGS_$(patsubst $(OUT)/%,%,$@)) $(DEVICE) $(KILN_DEPEND_$(TARGET)) -o $@ $<
# The steps of a driver, clang's or nvcc's, by themselves; it is asked where ccache is, where a schedule has options that are
# the driver's, and where KILN_HIPCC_<target> was named by hand.
driver = $(or $(if $(KILN_CCACHE),$(KILN_CACHED_$(TARGET))),$(filter command,$(origin KILN_HIPCC_$(TARGET))))
cc1 = $(if $(or $(driver),$(filter-out -mllvm~%,$(subst -mllvm ,-mllvm~,$(KILN_FLAGS_$*.co)))),,$(KILN_CC1_$(TARGET)))
two_steps = $(cc1) $(KILN_FLAGS_$*.co) $(DEVICE) $(subst -Xclang ,,$(KILN_DEPEND_$(TARGET))) -main-file-name $(<F) -o $@.o $< \
    && $(KILN_LINK_$(TARGET)) && rm -f $@.o
$(OUT)/%.co: $(OUT)/%.hip
	$(call say,HIPCC ,$*)
	$(Q)$(call timed,$(if $(cc1),$(two_steps),$(compile)),$*)
KILN_INCLUDE = $(DEVICE)
KILN_PTXAS = $(patsubst -Xptxas=%,%,$(KILN_FLAGS_$*.cubin))
three_steps = $(if $(or $(driver),$(filter-out -Xptxas=%,$(KILN_FLAGS_$*.cubin))),,$(KILN_STEPS_$(TARGET)))
$(OUT)/%.cubin: $(OUT)/%.cpp
	$(call say,HIPCC ,$*)
	$(Q)$(call timed,$(if $(three_steps),$(three_steps) && rm -f $(addprefix $@.,ii ptx module_id c gpu),$(compile)),$*)
endif
.PHONY: all modules FORCE
.DELETE_ON_ERROR:
# No rule but these: a folder of instances is nothing that is made of a file with its name and .sh.
.SUFFIXES:
FORCE:
