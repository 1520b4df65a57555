# SPDX-License-Identifier: GPL-2.0
#
# Benchmarks that need no kernel module.

$(O)/bench/recorder_native: tools/testing/bench/recorder_native.c kmod/recorder.c \
		kmod/recorder.h tools/testing/unit/recorder_port.h \
		tools/testing/unit/recorder_memory.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ $(LDFLAGS)

BENCH_PROGRAMS += $(O)/bench/recorder_native
