# SPDX-License-Identifier: GPL-2.0
#
# The kselftests of the module; their own Makefile is of the kernel's form.
#
#   make selftests     build them, to $(O)/selftests
#   tools/testing/selftests/monad_ring/run --kernel 6.12
#                      build them and run them in a guest

.PHONY: selftests

build/linux-source/tools/testing/selftests/lib.mk:
	tools/testing/vm/fetch source

selftests: build/linux-source/tools/testing/selftests/lib.mk $(LIB_A)
	+@$(MAKE) --no-print-directory -C tools/testing/selftests/monad_ring \
		OUTPUT=$(abspath $(O))/selftests
