# SPDX-License-Identifier: GPL-2.0
#
#	make                    library, BPF objects, tools, and the module for KDIR
#	make modules KDIR=...   the module alone, for any kernel's headers
#	make tools              everything that runs in user space
#	make install modules_install [DESTDIR= PREFIX=]
#	make unit               native tests of library and recorder
#	make fuzz               fuzz targets, for tools/testing/fuzz/run
#	make bench              what this machine can measure, in one table
#	make clean
#
# Everything built goes to build/; the sources stay clean, so that modules for
# several kernels can stand side by side.

O ?= build

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions

CC ?= gcc
CXX ?= g++
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	   -Wno-unused-parameter -Wno-sign-compare -Werror=implicit-function-declaration \
	   $(EXTRA_WARNINGS)
CFLAGS ?= -O2 -g
# What every user-space file is compiled with, besides the caller's CFLAGS.
override CPPFLAGS += -D_GNU_SOURCE -Iuapi -Iuser/include
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(CPPFLAGS)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# Each fragment adds to these and defines its own rules.
TOOLS :=
MAN8 :=
UNIT_TESTS :=

include kmod/module.mk
include user/user.mk
include bpf/bpf.mk
include tools/monad-ring/monad-ring.mk
include tools/proto/proto.mk
include tools/transform/transform.mk
include tools/telemetry/telemetry.mk
include tools/monad-telemetry/monad-telemetry.mk
include tools/monad-storage/monad-storage.mk
include tools/examples/examples.mk
include tools/testing/selftests/monad_ring/selftests.mk
include tools/testing/selftests/monad_storage/storage-tests.mk
include tools/testing/unit/unit.mk
include tools/testing/fuzz/fuzz.mk
include tools/testing/bench/bench.mk

# The tools first: they are of use, to read rings, where a module cannot be built.
all: tools
	$(MAKE) modules

tools: lib bpf $(TOOLS)

install: tools
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(MANDIR)/man8
	install -m 755 $(TOOLS) $(DESTDIR)$(SBINDIR)/
	install -m 644 $(MAN8) $(DESTDIR)$(MANDIR)/man8/

# The unit tests: native programs that print TAP.
unit-build: $(UNIT_TESTS)

unit-list:
	@printf '%s\n' $(UNIT_TESTS)

unit: unit-build
	@for test in $(UNIT_TESTS); do echo "# $$test"; $$test || exit 1; done

clean:
	rm -rf $(O)/bin $(O)/lib $(O)/bpf $(O)/obj $(O)/kmod-* $(O)/unit $(O)/fuzz $(O)/bench $(O)/selftests

distclean:
	rm -rf $(O)

.PHONY: all tools lib bpf install clean distclean unit unit-build unit-list bench
