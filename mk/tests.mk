# SPDX-License-Identifier: MIT
# Tests: programs are built here, tests/run.sh runs them and everything else and adds up.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
SIMTESTS := $(patsubst tests/sim/%.c,$(BUILD)/tests/%,$(wildcard tests/sim/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
FIXTURES := $(patsubst tests/unit/%.c,$(BUILD)/tests/lib%.so,$(wildcard tests/unit/fixture_*.c))
FAKES := $(if $(wildcard tests/unit/fake_driver.c),$(BUILD)/tests/fake/libcuda.so.1 $(BUILD)/tests/fake/libamdhip64.so.6)
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/tests/%,$(wildcard tests/bench/*.c))
# What runs once more under sanitizers, and what that needs; the other programs, nothing runs there.
CHECKED = $(UNIT) $(SIMTESTS) $(FUZZ) $(FIXTURES) $(FAKES)
TEST_PROGRAMS = $(CHECKED) $(BENCHES)

GEN_AR := $(BUILD)/obj/gen.a
RT_AR  := $(BUILD)/obj/runtime.a
$(GEN_AR): $(filter-out %/main.o,$(GEN_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(RT_AR): $(RT_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Test programs know where the checkout lies: those of another place are not used.
$(BUILD)/tests/root: FORCE
	$(Q)mkdir -p $(@D); echo '$(ROOT)' | cmp -s - $@ || echo '$(ROOT)' >$@
$(TEST_PROGRAMS): $(BUILD)/tests/root
# Unit tests and fuzz targets see the insides: they link both archives, of which the linker takes what is used.
TEST_CC = $(CC) $(KILN_CFLAGS) $(LUA_CFLAGS) -Igen -Itools -Itests -Itemplates/device -MF $@.d -MT $@ \
    -DKILN_TEST_ROOT='"$(ROOT)"' -DKILN_TEST_BUILD='"$(abspath $(BUILD))"'
TEST_LIBS = $(SAN_LINK) $(LUA_LIBS) -lcmocka -ldl -lpthread -lm
$(BUILD)/tests/%: tests/unit/%.c $(GEN_AR) $(RT_AR) | $(BUILD)/deps-test.stamp
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(TEST_CC) -o $@ $< $(GEN_AR) $(RT_AR) $(TEST_LIBS)
$(BUILD)/tests/%: tests/sim/%.c $(SIM_AR) | $(BUILD)/deps-test.stamp
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(TEST_CC) -Isim -o $@ $< $(SIM_AR) $(TEST_LIBS) $(SIM_LIBS)
$(BUILD)/tests/%: tests/fuzz/%.c $(GEN_AR) $(RT_AR) | $(BUILD)/deps-test.stamp
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(TEST_CC) -o $@ $< $(GEN_AR) $(RT_AR) $(TEST_LIBS)
$(BUILD)/tests/%: tests/bench/%.c $(RT_AR) | $(BUILD)/deps-test.stamp
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(TEST_CC) -o $@ $< $(RT_AR) $(TEST_LIBS)
$(BUILD)/tests/lib%.so: tests/unit/%.c | $(BUILD)/deps-test.stamp
	$(Q)mkdir -p $(@D) && $(TEST_CC) -fPIC -shared -o $@ $<
$(BUILD)/tests/fake/libcuda.so.1: tests/unit/fake_driver.c | $(BUILD)/deps-test.stamp
	$(Q)mkdir -p $(@D) && $(TEST_CC) -fPIC -shared -o $@ $<
$(BUILD)/tests/fake/libamdhip64.so.6: $(BUILD)/tests/fake/libcuda.so.1
	$(Q)ln -sf libcuda.so.1 $@
-include $(wildcard $(BUILD)/tests/*.d)

.PHONY: test test-programs checked-programs check-gpu check-sim check-emul
test-programs: programs $(TEST_PROGRAMS)
checked-programs: $(BUILD)/bin/kiln-gen $(CHECKED)
# What was built before, and the host, are tested whole.  Of what is for the simulator a clean checkout has nothing, and
# builds each form of op, schedule and type once; others differ in what their epilogues compute, which the host's kernels
# show.  gfx90a has fewer types, other matrix instructions and the same templates.  `make check-sim` is for all of them.
TEST_OPS_gfx90a := a16w8_linear bias_relu linear_abde_i8 paged_attention rmsnorm_quant_block w4a16_g32
TEST_OPS_gfx942 := a16w8_blockscale a16w8_linear add_rmsnorm_quant add_rmsnorm_static_i8 bias_attention bias_relu \
    bmm_ab_i8_e_f32 bmm_abe_i8 causal_attention_fp8 elementwise_swiglu gelu_mul_quant_i8 gemm gemm_a8w8_blockscale \
    hf_silu_mul_fp8 layernorm_i8 linear_abde_i8 linear_amax linear_relu_abde_i8 linear_residual_ssq mla \
    paged_attention paged_mla quantise_block_fnuz quantise_row ragged_attention rmsnorm_quant_block silu_mul \
    silu_mul_quant_block_i8 sink_attention softmax swiglu swiglu_quant swiglu_quant_static w4a16_g32 w4a16_sym_g128 \
    w4a8_g128 window_attention
test: test-programs $(BUILD)/toolchain.mk ## everything that needs no GPU; closes with `N passed, N failed`
	$(Q)$(if $(SAN),,$(MAKE) SAN=1 checked-programs)
	$(check_folders)+$(Q)$(call build_modules,$(INSTANCES),$(HERE),$(OPS))
	+$(call sim_modules,$(HERE),test_ops)
	+$(Q)if [ -n "$$(PYTHON='$(PYTHON)' mk/python.sh)" ]; then $(MAKE) python; fi
	$(Q)BUILD=$(BUILD) tests/run.sh
# Of what `make check-sim` left nothing is taken away.
test_ops = $(foreach f,$(BUILD)/tests/$1/gen/generated.stamp,$(if $(wildcard $f),$(if $(strip $(file <$f)),$(TEST_OPS_$1)),$(TEST_OPS_$1)))
# The simulator's targets but those in $1, each of the ops that $2 gives (none: all).
sim_modules = $(Q)$(foreach t,$(filter-out $1,gfx942 gfx90a),$(MAKE) -f mk/instances.mk DIR=instances \
    OUT=$(BUILD)/tests/$t/gen LIB=$(BUILD)/tests/$t BUILD=$(BUILD) TARGETS=$t OPTIONAL=$t OPS='$(call $2,$t)' CC='$(CC)' V=$(V) &&) true
check-sim: programs instances ## every AMD instance on the simulator, all shapes, all checks
	+$(call sim_modules,$(TARGETS),)
	$(Q)BUILD=$(BUILD) tests/sim/instances.sh --full
	+$(Q)BUILD=$(BUILD) tests/sim/matrix.sh --full
	+$(Q)BUILD=$(BUILD) tests/sim/attention.sh --full
	+$(Q)BUILD=$(BUILD) tests/sim/rowwise.sh --full
	+$(Q)BUILD=$(BUILD) tests/sim/groups.sh --full
check-emul: programs ## every corner of the kernels for Hopper, emulated on this CPU
	+$(Q)BUILD=$(BUILD) tests/emul/hopper.sh --full
check-gpu: programs instances $(patsubst %,$(BUILD)/tests/%,launch_chain one_memory large_scales far_apart) ## every instance on this machine's GPU against the reference; 77 where there is none
	$(Q)tests/check-gpu.sh $(BUILD)
