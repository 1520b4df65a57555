# SPDX-License-Identifier: GPL-2.0
#
# Fuzz targets, by libFuzzer, with ASan and UBSan: make fuzz, then
# tools/testing/fuzz/run. The library is compiled anew for them, so that the fuzzer
# sees its branches.

FUZZ_DIR := tools/testing/fuzz
FUZZ_TARGETS := ring snapshot config
FUZZ_BINS := $(FUZZ_TARGETS:%=$(O)/fuzz/fuzz_%)

FUZZ_FLAGS = -std=gnu11 -g -O1 -fno-omit-frame-pointer $(WARNINGS) $(CPPFLAGS) \
	     -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	     -Iuser/src -Itools/testing/unit
FUZZ_LIB_OBJS = $(LIB_OBJS:$(O)/obj/user/%=$(O)/fuzz/lib/%)

$(O)/fuzz/lib/%.o: user/src/%.c $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/lib/recorder.o: kmod/recorder.c $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $< -include user/src/recorder_port.h

$(O)/fuzz/lib/%_schema_hash.o: $(O)/obj/%_schema_hash.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -c -o $@ $<

$(O)/fuzz/fuzz_%: $(FUZZ_DIR)/fuzz_%.c $(FUZZ_DIR)/fuzz_input.h $(FUZZ_LIB_OBJS)
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< $(FUZZ_LIB_OBJS) $(LIB_LIBS)

# The module's own source, over a little of the kernel's headers; they come first.
$(O)/fuzz/fuzz_config: CPPFLAGS := -I$(FUZZ_DIR)/kernel $(CPPFLAGS)
$(O)/fuzz/fuzz_config: kmod/config.c kmod/config.h $(wildcard $(FUZZ_DIR)/kernel/linux/*.h)

$(O)/fuzz/seeds: $(FUZZ_DIR)/seeds.c tools/testing/unit/snapshot_frame.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/testing/unit -o $@ $< $(LIB_LIBS)

fuzz: $(FUZZ_BINS) $(O)/fuzz/seeds

-include $(wildcard $(O)/fuzz/*.d $(O)/fuzz/lib/*.d)

.PHONY: fuzz
