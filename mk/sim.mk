# SPDX-License-Identifier: MIT
# libkilnsim: a HIP runtime that executes AMD code objects on the CPU.  sim/vec_*.c do the work of vector lanes: they are
# compiled once per variant of this CPU's vector unit, and sim/ops.c takes the best one at run time.
SIM_SRC := $(wildcard sim/*.c)
SIM_VEC := $(filter sim/vec_%.c,$(SIM_SRC))
SIM_VARIANTS := base $(if $(filter x86_64,$(shell uname -m)),v3 v4)
SIM_FLAGS_base :=
SIM_FLAGS_v3 := -march=x86-64-v3 -mtune=generic
SIM_FLAGS_v4 := -march=x86-64-v4 -mtune=generic -mprefer-vector-width=512
SIM_OBJ := $(patsubst sim/%.c,$(BUILD)/obj/sim/%.o,$(filter-out $(SIM_VEC),$(SIM_SRC))) \
    $(foreach v,$(SIM_VARIANTS),$(patsubst sim/%.c,$(BUILD)/obj/sim/%.$(v).o,$(SIM_VEC)))
SIM_SO := $(BUILD)/lib/libkilnsim.so
SIM_NAMES := $(foreach n,amdhip64 hiprtc,$(foreach v,so so.5 so.6 so.7,lib$n.$v))
SIM_AR := $(BUILD)/obj/sim.a
# The C library of msgpack has had three names.
MSGPACK = $(shell for n in msgpack-c msgpackc msgpack; do pkg-config $1 $$n 2>/dev/null && exit; done; echo $2)
SIM_LIBS = -lelf -ldw $(call MSGPACK,--libs,-lmsgpackc) -ldl -lpthread -lm
# Lanes are independent and exceptions are not looked at, but rounding modes are: nothing may be contracted or folded.
# Functions of lanes are called through a pointer after the direction is set and fold nothing that it changes, while
# -frounding-math would keep compilers from turning their loops into vectors: they go without.
SIM_CFLAGS = $(KILN_CFLAGS) $(call MSGPACK,--cflags) -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math -frounding-math \
    -fno-strict-aliasing

$(BUILD)/obj/sim/%.o: sim/%.c | $(DEPS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(SIM_CFLAGS) -DKS_VARIANTS='$(foreach v,$(SIM_VARIANTS),X($(v)))' -c -o $@ $<
define sim_variant
$(BUILD)/obj/sim/%.$(1).o: sim/%.c | $(DEPS)
	$$(call say,CC,$$< ($(1)))
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(SIM_CFLAGS) -fno-rounding-math $(if $(SAN),,-O3) $(SIM_FLAGS_$(1)) -DKS_VARIANT=$(1) -c -o $$@ $$<
endef
$(foreach v,$(SIM_VARIANTS),$(eval $(call sim_variant,$(v))))

# The names under which programs of HIP look for their runtime are in a folder of their own: that of Kiln's other libraries
# must not shadow a real one.
$(SIM_SO): $(SIM_OBJ) sim/kilnsim.map
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) $(@D)/sim && $(CC) -shared $(SAN_LINK) -Wl,-soname,libkilnsim.so -Wl,--version-script=sim/kilnsim.map \
	    -Wl,--no-undefined -o $@ $(SIM_OBJ) $(SIM_LIBS)
	$(Q)for n in $(SIM_NAMES); do ln -sf ../libkilnsim.so $(@D)/sim/$$n; done
$(SIM_AR): $(SIM_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

.PHONY: sim sim-libs
# What programs that link $(SIM_AR) link besides, for tests.
sim-libs:
	@echo '$(SIM_LIBS)'
sim: $(SIM_SO) ## the simulator: build/lib/libkilnsim.so, and as libamdhip64 in build/lib/sim
-include $(SIM_OBJ:.o=.d)
