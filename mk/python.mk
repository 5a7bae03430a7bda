# SPDX-License-Identifier: MIT
# The Python package, in $(BUILD)/python: the extension, the files of python/kiln, type stubs of the ops that were built.
PYTHON ?= python3
PY_SRC := $(wildcard python/src/*.c)
PY_OBJ := $(PY_SRC:%.c=$(BUILD)/obj/%.o)
PY_DIR := $(BUILD)/python/kiln
PY_FILES := $(patsubst python/kiln/%,$(PY_DIR)/%,$(wildcard python/kiln/*.py) python/kiln/py.typed)
PY_SO := $(PY_DIR)/_kiln.abi3.so
PY_INCLUDE = $(shell PYTHON='$(PYTHON)' mk/python.sh)

$(BUILD)/deps-python.stamp: mk/deps.sh mk/python.sh
	$(Q)[ -n "$$(PYTHON='$(PYTHON)' mk/python.sh)" ] || mk/deps.sh python
	$(Q)mkdir -p $(@D) && touch $@
$(BUILD)/obj/python/src/%.o: python/src/%.c | $(DEPS) $(BUILD)/deps-python.stamp
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(KILN_CFLAGS) -fPIC -fvisibility=hidden -DPy_LIMITED_API=0x03090000 -isystem '$(PY_INCLUDE)' -c -o $@ $<
# link_python OUT RPATH
link_python = $(CC) -shared -o $1 $(PY_OBJ) -L$(BUILD)/lib -lkiln -Wl,-rpath,'$2'
# libkiln lies beside the package's folder of the tree, in it (a wheel), or above it (installed).
$(PY_SO): $(PY_OBJ) $(SO)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(call link_python,$@.tmp,$$ORIGIN/lib:$$ORIGIN/../../lib:$$ORIGIN/../../..) && mv -f $@.tmp $@
$(PY_DIR)/%: python/kiln/%
	$(Q)mkdir -p $(@D) && cp $< $@
-include $(PY_OBJ:.o=.d)

.PHONY: python
python: $(PY_SO) $(PY_FILES) $(BUILD)/bin/kiln-gen $(BUILD)/bin/kiln ## the Python package, in $(BUILD)/python
	$(Q)PYTHONPATH=$(BUILD)/python KILN_MODULE_PATH= $(PYTHON) -m kiln stubs
