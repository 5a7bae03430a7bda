# SPDX-License-Identifier: MIT
PREFIX ?= /usr/local
LIBDIR ?= lib
D := $(DESTDIR)$(PREFIX)

.PHONY: install
install: all ## copy programs, library, modules, header, templates and man pages under DESTDIR/PREFIX
	$(Q)install -d $D/bin $D/include $D/$(LIBDIR)/kiln $D/$(LIBDIR)/pkgconfig $D/share/kiln/abi \
	    $D/share/bash-completion/completions $D/share/man/man1 $D/share/man/man3 $D/share/man/man5
	$(Q)install -m755 $(BUILD)/bin/kiln $(BUILD)/bin/kiln-gen $D/bin
	$(Q)install -m755 $(BUILD)/lib/libkiln.so.0 $D/$(LIBDIR)/libkiln.so.$(VERSION)
	$(Q)ln -sf libkiln.so.$(VERSION) $D/$(LIBDIR)/libkiln.so.0 && ln -sf libkiln.so.0 $D/$(LIBDIR)/libkiln.so
	$(Q)install -m644 $(BUILD)/lib/kiln/*.so $D/$(LIBDIR)/kiln
	$(Q)install -m644 runtime/kiln.h abi/kiln_dtype.h $D/include
	$(Q)install -m644 abi/*.h $D/share/kiln/abi
	$(Q)cp -r templates instances $D/share/kiln/
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' mk/kiln.pc.in >$D/$(LIBDIR)/pkgconfig/kiln.pc
	$(Q)install -m644 tools/kiln.bash $D/share/bash-completion/completions/kiln
	$(Q)if command -v scdoc >/dev/null; then for f in docs/man/*.scd; do n=$$(basename $$f .scd); \
	    scdoc <$$f >$D/share/man/man$${n##*.}/$$n; done; fi
