# SPDX-License-Identifier: MIT
# kiln-gen, libkiln, kiln and the examples.
GEN_SRC := $(wildcard gen/*.c)
RT_SRC  := $(wildcard runtime/*.c)
TOOL_SRC := $(wildcard tools/*.c)
GEN_OBJ := $(GEN_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/tools/elf.o
# What the library shares with the tools, for tuning on first use (runtime/first.c).
RT_TOOLS := $(wildcard tools/harness*.c) tools/tuning_rows.c
RT_OBJ  := $(RT_SRC:%.c=$(BUILD)/obj/%.o) $(RT_TOOLS:%.c=$(BUILD)/obj/%.o)
NEW_LUA  := $(sort $(wildcard templates/*/new/*.lua))
NEW_C    := $(BUILD)/obj/tools/new_templates.c
PAGE     := $(sort $(wildcard tools/page/*))
PAGE_C   := $(BUILD)/obj/tools/page.c
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/obj/%.o) $(NEW_C:.c=.o) $(PAGE_C:.c=.o)
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/bin/%,$(wildcard examples/*.c))
HARNESS  := $(BUILD)/obj/tools/harness.a
SO := $(BUILD)/lib/libkiln.so

# Debian and Fedora name Lua's files differently; pkg-config knows, where it is there.
LUA_CFLAGS = $(shell pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua 2>/dev/null || echo -I/usr/include/lua5.4)
LUA_LIBS   = $(shell pkg-config --libs lua5.4 2>/dev/null || pkg-config --libs lua 2>/dev/null || echo -llua5.4)

programs: $(BUILD)/bin/kiln-gen $(BUILD)/bin/kiln $(EXAMPLES) sim ## generator, library, simulator and tools, without modules

$(BUILD)/obj/gen/%.o: gen/%.c | $(DEPS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(KILN_CFLAGS) $(LUA_CFLAGS) -c -o $@ $<
$(BUILD)/obj/runtime/%.o: runtime/%.c | $(DEPS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(KILN_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<
$(RT_TOOLS:%.c=$(BUILD)/obj/%.o): PIC := -fPIC -fvisibility=hidden
$(BUILD)/obj/tools/%.o: tools/%.c | $(DEPS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(KILN_CFLAGS) $(PIC) -c -o $@ $<

# What `kiln new` starts from; the folders, because a file may have gone.
$(NEW_C): mk/new_templates.sh $(NEW_LUA) $(sort $(dir $(NEW_LUA)))
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh mk/new_templates.sh $(NEW_LUA) >$@.tmp && mv $@.tmp $@
# The page of `kiln report --html`.
$(PAGE_C): mk/page.sh $(PAGE)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh mk/page.sh tools/page $(@:.c=.html) >$@.tmp && mv $@.tmp $@
$(NEW_C:.c=.o) $(PAGE_C:.c=.o): %.o: %.c | $(DEPS)
	$(call say,CC,$<)
	$(Q)$(CC) $(KILN_CFLAGS) -Itools -c -o $@ $<

$(BUILD)/bin/kiln-gen: $(GEN_OBJ)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SAN_LINK) -o $@ $^ $(LUA_LIBS) -lm
$(SO).0: $(RT_OBJ) runtime/kiln.map
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(SAN_LINK) -Wl,-soname,libkiln.so.0 -Wl,--version-script=runtime/kiln.map \
	    -Wl,--no-undefined -o $@ $(RT_OBJ) -ldl -lpthread -lm
$(SO): $(SO).0
	$(Q)ln -sf libkiln.so.0 $@
# link_kiln OUT LIBDIR: the program that finds its library in ../LIBDIR.
link_kiln = $(CC) $(SAN_LINK) -o $1 $(TOOL_OBJ) -L$(BUILD)/lib -lkiln -ljansson -ldl -lpthread -lm \
    -Wl,-rpath,'$$ORIGIN/../$2'
$(BUILD)/bin/kiln: $(TOOL_OBJ) $(SO)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(call link_kiln,$@,lib)
$(HARNESS): $(BUILD)/obj/tools/harness.o $(filter $(BUILD)/obj/tools/harness_%.o,$(TOOL_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/bin/%: examples/%.c $(HARNESS) $(SO) | $(DEPS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(KILN_CFLAGS) $(SAN_LINK) -Itools -MF $(BUILD)/obj/$*.d -o $@ $< $(HARNESS) \
	    -L$(BUILD)/lib -lkiln -lpthread -lm -Wl,-rpath,'$$ORIGIN/../lib'

-include $(GEN_OBJ:.o=.d) $(RT_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(wildcard $(BUILD)/obj/*.d)
