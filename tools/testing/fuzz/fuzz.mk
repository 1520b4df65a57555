# SPDX-License-Identifier: GPL-2.0
#
# Fuzz targets, by libFuzzer, with ASan and UBSan: make fuzz, then
# tools/testing/fuzz/run. The library is compiled anew for them, so that the fuzzer
# sees its branches.

FUZZ_DIR := tools/testing/fuzz
FUZZ_TARGETS := ring snapshot config transform task framing http
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
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< $(FUZZ_OBJS) $(FUZZ_LIB_OBJS) \
		$(LIB_LIBS) $(FUZZ_LIBS)

# The module's own source, over a little of the kernel's headers; they come first.
$(O)/fuzz/fuzz_config: CPPFLAGS := -I$(FUZZ_DIR)/kernel $(CPPFLAGS)
$(O)/fuzz/fuzz_config: kmod/config.c kmod/config.h $(wildcard $(FUZZ_DIR)/kernel/linux/*.h)

# The transformer, with what it is made of.
FUZZ_TRANSFORM_OBJS = $(TRANSFORM_OBJS:$(O)/obj/%=$(O)/fuzz/%) $(PROTO_OBJS:$(O)/obj/%=$(O)/fuzz/%) \
		      $(TOOLS_LIB_OBJS:$(O)/obj/%=$(O)/fuzz/%)
FUZZ_TRANSFORM_FLAGS = -Itools/transform -Itools/lib $(PROTO_CPPFLAGS)

$(O)/fuzz/fuzz_transform: private override CPPFLAGS += $(FUZZ_TRANSFORM_FLAGS)
$(O)/fuzz/fuzz_transform: FUZZ_OBJS = $(FUZZ_TRANSFORM_OBJS)
$(O)/fuzz/fuzz_transform: FUZZ_LIBS = $(PROTO_LIBS)
$(O)/fuzz/fuzz_transform: $(FUZZ_TRANSFORM_OBJS)

$(O)/fuzz/transform/%.o: tools/transform/%.c $(PROTO_HEADERS) $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) $(FUZZ_TRANSFORM_FLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/tools-lib/%.o: tools/lib/%.c $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/proto/%.o: $(O)/obj/proto/%.c $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) $(PROTO_CPPFLAGS) -c -o $@ $<

# What is said on a connection of tasks, on both sides.
FUZZ_TASK_OBJS = $(patsubst %,$(O)/fuzz/monad-storage/%.o, disk event fail metrics_histogram \
		   task_decode task_outcomes task_request task_results) \
		 $(O)/fuzz/telemetry/framing.o $(O)/fuzz/transform/storage_names.o \
		 $(PROTO_OBJS:$(O)/obj/%=$(O)/fuzz/%) $(TOOLS_LIB_OBJS:$(O)/obj/%=$(O)/fuzz/%)

$(O)/fuzz/fuzz_task: private override CPPFLAGS += $(STORAGE_CPPFLAGS)
$(O)/fuzz/fuzz_task: FUZZ_OBJS = $(FUZZ_TASK_OBJS)
$(O)/fuzz/fuzz_task: FUZZ_LIBS = $(PROTO_LIBS)
$(O)/fuzz/fuzz_task: $(FUZZ_TASK_OBJS)

$(O)/fuzz/monad-storage/%.o: tools/monad-storage/%.c $(PROTO_HEADERS) $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) $(STORAGE_CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/telemetry/%.o: tools/telemetry/%.c $(PROTO_HEADERS) $(FUZZ_DIR)/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -Itools/telemetry -Itools/lib $(PROTO_CPPFLAGS) -MMD -MP -c -o $@ $<

# What comes on a stream of telemetry, and what a receiver writes of it.
FUZZ_FRAMING_OBJS = $(patsubst %,$(O)/fuzz/telemetry/%.o, framing jsonl_line pb_fields pb_json) \
		    $(PROTO_OBJS:$(O)/obj/%=$(O)/fuzz/%) $(TOOLS_LIB_OBJS:$(O)/obj/%=$(O)/fuzz/%)

$(O)/fuzz/fuzz_framing: private override CPPFLAGS += -Itools/telemetry -Itools/lib $(PROTO_CPPFLAGS)
$(O)/fuzz/fuzz_framing: FUZZ_OBJS = $(FUZZ_FRAMING_OBJS)
$(O)/fuzz/fuzz_framing: FUZZ_LIBS = $(PROTO_LIBS)
$(O)/fuzz/fuzz_framing: $(FUZZ_FRAMING_OBJS)

# What is asked of the server of metrics.
FUZZ_HTTP_OBJS = $(O)/fuzz/monad-storage/http_server.o $(TOOLS_LIB_OBJS:$(O)/obj/%=$(O)/fuzz/%)

$(O)/fuzz/fuzz_http: private override CPPFLAGS += $(STORAGE_CPPFLAGS)
$(O)/fuzz/fuzz_http: FUZZ_OBJS = $(FUZZ_HTTP_OBJS)
$(O)/fuzz/fuzz_http: FUZZ_LIBS = $(shell $(PKG_CONFIG) --libs libmicrohttpd) -pthread
$(O)/fuzz/fuzz_http: $(FUZZ_HTTP_OBJS)

$(O)/fuzz/seeds: $(FUZZ_DIR)/seeds.c tools/testing/unit/snapshot_frame.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/testing/unit -o $@ $< $(LIB_LIBS)

fuzz: $(FUZZ_BINS) $(O)/fuzz/seeds

-include $(wildcard $(O)/fuzz/*.d $(O)/fuzz/lib/*.d $(O)/fuzz/transform/*.d $(O)/fuzz/tools-lib/*.d \
	$(O)/fuzz/monad-storage/*.d $(O)/fuzz/telemetry/*.d)

.PHONY: fuzz
