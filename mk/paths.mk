# SPDX-License-Identifier: MIT
# A checkout may lie under a path with spaces: what make names is then relative to it, for make's lists are split at spaces.
empty :=
space := $(empty) $(empty)
comma := ,
relative = $(if $(findstring $(space),$1),$(subst $(CURDIR)/,,$1),$1)
# check_path NAME: stops where the folder that the variable NAME holds has a space in it, still.
check_path = $(if $(findstring $(space),$($1)),$(error $1: make takes no folder with a space in its name, and "$($1)" has one))
