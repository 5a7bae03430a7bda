# SPDX-License-Identifier: MIT
# Which targets, of those known.  Without TARGETS: the host, gfx942, what this machine's own GPU needs, and what was built
# before, lest it grow old: what there are modules for in the folders LIBS.  HERE: those that this machine has a device for, or
# has been asked for.
KNOWN_TARGETS := $(patsubst templates/targets/%.lua,%,$(wildcard templates/targets/*.lua))
ifeq ($(origin TARGETS),undefined)
BUILT := $(filter $(KNOWN_TARGETS:%=libkiln-%.so),$(notdir $(foreach d,$(LIBS),$(wildcard $d/libkiln-*.so))))
HERE := $(sort host $(shell mk/detect.sh) $(BUILT:libkiln-%.so=%))
TARGETS := $(sort gfx942 $(HERE))
# Of those nobody asked for, the ones that nothing here compiles are left out.
OPTIONAL := $(TARGETS)
else
HERE := $(TARGETS)
endif
