# SPDX-License-Identifier: MIT
# Folders, flags and the printing of build lines.
ROOT   := $(CURDIR)
BUILD  ?= build
override BUILD := $(call relative,$(BUILD))
$(call check_path,BUILD)
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
AR     := $(if $(filter default,$(origin AR)),ar,$(AR))
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
ifdef CI
WARN += -Werror
endif
# SAN=1: everything with address and undefined-behaviour sanitizers, in a folder of its own.
ifdef SAN
override BUILD := build/san
override CFLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
SAN_LINK := -fsanitize=address,undefined
endif
VERSION := $(shell sed -n 's/.*KILN_VERSION "\(.*\)"/\1/p' abi/kiln_version.h)
KILN_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) -Iabi -Iruntime -MMD -MP

# Parallel unless told otherwise.
ifeq ($(MAKELEVEL),0)
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
endif
MAKEFLAGS += --no-print-directory -r

ifdef V
Q   :=
say  = @:
else
Q   := @
say  = @printf '%-7s %s\n' '$(1)' '$(2)'
endif

# Packages: installed when this is root with a network, else the one command is printed and make stops.
DEPS := $(BUILD)/deps.stamp
$(BUILD)/deps.stamp: mk/deps.sh
	$(Q)mk/deps.sh build
	$(Q)mkdir -p $(@D) && touch $@
$(BUILD)/deps-test.stamp: mk/deps.sh | $(DEPS)
	$(Q)mk/deps.sh test
	$(Q)mkdir -p $(@D) && touch $@
