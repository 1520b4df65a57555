# SPDX-License-Identifier: GPL-2.0
#
# Building the module.  Included by the Makefile at the top; "make -f
# kmod/module.mk" does as well, where the tools are not wanted.
#
#   make modules                       for the kernel that runs
#   make modules KDIR=DIR              for another: its headers or build directory
#   make modules_install [DESTDIR=DIR]
#   make kunit KDIR=DIR                recorder_kunit.ko, its tests, for a kernel with KUnit
#   make modules_clean
#
# W=1, C=1, V=1 and such reach kbuild.  BTF_BASE, RESOLVE_BTFIDS and PAHOLE
# are for kmod/btf.sh, which says what they are.
#
# kbuild leaves its objects beside the sources.  So each kernel gets a
# directory of its own, full of links to these: kernels can be built for side
# by side, and the sources stay clean.

O ?= build
KDIR ?= /lib/modules/$(shell uname -r)/build
O ?= build

# What modules built there will carry; Debian's kernel.release differs from it.
module_release := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
module_dir := $(O)/kmod-$(module_release)
module_ko := $(module_dir)/kmod/monad_ring.ko

export BTF_BASE RESOLVE_BTFIDS PAHOLE

.PHONY: modules modules_install modules_clean kunit module_mirror module_kbuild kunit_kbuild

# Two makes at once must not build in the same directory.
modules: module_mirror
	+@flock $(module_dir)/.lock $(MAKE) --no-print-directory \
		-f kmod/module.mk module_kbuild KDIR='$(abspath $(KDIR))'

# An O= from the command line reaches kbuild, to which it is another thing:
# where the kernel was built.
module_kbuild:
	@$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(module_dir))/kmod \
		$(if $(filter command,$(origin O)),O='$(abspath $(KDIR))') modules
	@kmod/btf.sh $(KDIR) $(module_ko)

kunit: module_mirror
	+@flock $(module_dir)/.lock $(MAKE) --no-print-directory \
		-f kmod/module.mk kunit_kbuild KDIR='$(abspath $(KDIR))'

kunit_kbuild:
	@grep -qsE '^#define CONFIG_KUNIT(_MODULE)? 1' $(KDIR)/include/generated/autoconf.h || { \
		echo 'kunit: kernel $(module_release) has no CONFIG_KUNIT;' >&2; \
		echo '  one that has: tools/testing/vm/fetch 6.12-debug' >&2; exit 1; }
	@$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(module_dir))/kmod/tests \
		$(if $(filter command,$(origin O)),O='$(abspath $(KDIR))') modules

module_mirror:
	@if [ '$(words $(CURDIR))' != 1 ]; then \
		echo 'modules: kbuild cannot work below a path with a space in it: $(CURDIR)' >&2; \
		exit 1; \
	fi
	@if [ -z '$(module_release)' ]; then \
		echo 'modules: no kernel headers in $(KDIR)' >&2; \
		echo '  for the running kernel install linux-headers-$(shell uname -r);' >&2; \
		echo '  for another say make modules KDIR=DIR, for example' >&2; \
		echo '  tools/testing/vm/fetch 6.12 && make modules KDIR=build/vm/6.12/kdir' >&2; \
		exit 1; \
	fi
	@mkdir -p $(module_dir)/kmod
	@flock $(module_dir)/.lock sh -c ' \
		cp -rsf "$(CURDIR)/kmod/." $(module_dir)/kmod/ && \
		ln -sfn "$(CURDIR)/uapi" $(module_dir)/uapi && \
		find -L $(module_dir) -type l -delete'

# Does not build: it is likely run by root.
modules_install:
	@[ -f $(module_ko) ] || { echo 'modules_install: run make modules first' >&2; exit 1; }
	@kmod/btf.sh --check $(module_ko) || \
		{ echo 'modules_install: BPF programs could not write to its rings; make modules says why' >&2; exit 1; }
	install -D -m 644 $(module_ko) $(DESTDIR)/lib/modules/$(module_release)/updates/monad_ring.ko
	$(if $(DESTDIR),,depmod -a $(module_release))

modules_clean:
	rm -rf $(O)/kmod-*
