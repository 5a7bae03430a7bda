# SPDX-License-Identifier: MIT
# Modules of instances/ keep their names; those of any other folder of INSTANCES get its name in theirs, beside them.
PREFIX ?= /usr/local
LIBDIR ?= lib
PYTHONDIR ?= $(LIBDIR)/python3/dist-packages
D := '$(DESTDIR)$(PREFIX)'
SHARE := $D/share/kiln
DOC := $D/share/doc/kiln
put = install -m644
# The Python package in a folder from which the library is not where it is from the usual one.
relink_python = $(call link_python,$D/$(PYTHONDIR)/kiln/$(notdir $(PY_SO)),$$ORIGIN/..$(subst \
    $(space),,$(foreach d,$(subst /, ,$(PYTHONDIR)),/..))/$(LIBDIR))
# Sources that documents link to, beside instances/ and the documents themselves.
LINKED = $(sort $(shell grep -ohE '\]\(\.\./[^)\#]+' docs/*.md | sed 's|.*\.\./||' | grep -v '^instances'))
# What `kiln build` works with.
RULES := $(addprefix mk/,folder.mk instances.mk paths.mk targets.mk)
RULES_SH := mk/built.sh mk/detect.sh mk/toolchain.sh

.PHONY: install
install: all ## copy programs, library, modules, header, templates and documents under DESTDIR/PREFIX
	$(Q)for d in $(foreach d,$(INSTANCES),$(call lib_dir,$d)); do ls $$d/libkiln-*.so >/dev/null || exit; done
	+$(Q)if [ -n "$$(PYTHON='$(PYTHON)' mk/python.sh)" ]; then $(MAKE) python; \
	    else echo 'install: no Python package, because there are no headers of Python (mk/deps.sh python)' >&2; fi
	$(Q)install -d $D/bin $D/include $D/$(LIBDIR)/kiln $D/$(LIBDIR)/pkgconfig $D/share/bash-completion/completions \
	    $(DOC)/docs/benchmarks $(SHARE)/abi $(SHARE)/instances $(SHARE)/mk $(addprefix $(SHARE)/,$(shell find templates -type d))
	$(Q)install -m755 $(BUILD)/bin/kiln $(BUILD)/bin/kiln-gen $D/bin
	$(if $(filter lib,$(LIBDIR)),,$(Q)$(call link_kiln,$D/bin/kiln,$(LIBDIR)) && chmod 755 $D/bin/kiln)
	$(Q)install -m755 $(BUILD)/lib/libkiln.so.0 $D/$(LIBDIR)/libkiln.so.$(VERSION)
	$(Q)ln -sf libkiln.so.$(VERSION) $D/$(LIBDIR)/libkiln.so.0 && ln -sf libkiln.so.0 $D/$(LIBDIR)/libkiln.so
	$(Q)install -d $D/$(LIBDIR)/kiln/sim && install -m755 $(SIM_SO) $D/$(LIBDIR)
	$(Q)for n in $(SIM_NAMES); do ln -sf ../../libkilnsim.so $D/$(LIBDIR)/kiln/sim/$$n || exit; done
	$(Q)$(foreach d,$(INSTANCES),for f in $(call lib_dir,$d)/libkiln-*.so; do \
	    $(put) $$f $D/$(LIBDIR)/kiln/libkiln-$(if $(filter instances,$d),,$(notdir $(d:/=))-)$${f##*/libkiln-} || exit; done &&) true
	$(Q)$(put) runtime/kiln.h sim/kilnsim.h abi/kiln_dtype.h abi/kiln_version.h $D/include
	$(Q)$(put) abi/*.h $(SHARE)/abi && $(put) instances/*.lua $(SHARE)/instances
	$(Q)$(put) $(RULES) $(SHARE)/mk && install -m755 $(RULES_SH) $(SHARE)/mk
	$(Q)[ ! -e $(PY_SO) ] || { install -d $D/$(PYTHONDIR)/kiln && $(put) $(PY_DIR)/*.py* $(PY_DIR)/py.typed $D/$(PYTHONDIR)/kiln && \
	    install -m755 $(PY_SO) $D/$(PYTHONDIR)/kiln; }
	$(if $(filter $(LIBDIR)/python3/dist-packages,$(PYTHONDIR)),,$(Q)[ ! -e $(PY_SO) ] || $(relink_python))
	$(Q)find templates -type f | while read -r f; do $(put) $$f $(SHARE)/$$f || exit; done
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' mk/kiln.pc.in | $(put) /dev/stdin $D/$(LIBDIR)/pkgconfig/kiln.pc
	$(Q)install -d $D/share/cmake/kiln && for f in kiln-config kiln-config-version; do \
	    sed 's|@LIBDIR@|$(LIBDIR)|g; s|@VERSION@|$(VERSION)|' mk/cmake/$$f.cmake.in | \
	    $(put) /dev/stdin $D/share/cmake/kiln/$$f.cmake || exit; done
	$(Q)$(put) tools/kiln.bash $D/share/bash-completion/completions/kiln
	$(Q)$(put) README.md CONTRIBUTING.md LICENSE $(DOC) && $(put) docs/*.md $(DOC)/docs && $(put) docs/benchmarks/* $(DOC)/docs/benchmarks
	$(Q)ln -sfn ../../kiln/instances $(DOC)/instances
	$(Q)for f in examples/readme.c $(LINKED); do $(put) -D $$f $(DOC)/$$f || exit; done
	$(Q)if command -v scdoc >/dev/null; then for f in docs/man/*.scd; do n=$$(basename $$f .scd) && \
	    install -d $D/share/man/man$${n##*.} && page=$$(scdoc <$$f) && \
	    printf '%s\n' "$$page" | $(put) /dev/stdin $D/share/man/man$${n##*.}/$$n || exit; done; \
	    else echo 'install: no man pages, because scdoc is not there' >&2; fi

# What is built, for all INSTANCES, as a package.
DEB = $(BUILD)/kiln_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
.PHONY: deb
deb: all ## a Debian package of what `make install` installs, build/kiln_VERSION_ARCHITECTURE.deb
	$(Q)rm -rf $(BUILD)/deb
	+$(Q)$(MAKE) install DESTDIR='$(abspath $(BUILD))/deb' PREFIX=/usr LIBDIR=lib
	$(Q)mk/deb.sh $(BUILD)/deb $(VERSION) $(DEB) && rm -rf $(BUILD)/deb && echo 'PACKAGE $(DEB)'
