# SPDX-License-Identifier: GPL-2.0
#
# The recorder's native tests: each is one program around kmod/recorder.c.

RECORDER_DIR := tools/testing/unit
RECORDER_DEPS := kmod/recorder.c kmod/recorder.h uapi/monad/event_ring.h \
		 $(RECORDER_DIR)/tap.h $(wildcard $(RECORDER_DIR)/recorder_*.h) \
		 user/src/recorder_port.h
RECORDER_TESTS := recorder_basic recorder_explore recorder_stress \
		  recorder_stress_tsan recorder_stress_asan

# gcc warns that fences are not understood, recorder_stress.c says why none is missed; clang
# does not know the warning.
$(O)/unit/recorder_stress_tsan: RECORDER_CFLAGS := -fsanitize=thread \
						   -Wno-unknown-warning-option -Wno-tsan
$(O)/unit/recorder_stress_asan: RECORDER_CFLAGS := -fsanitize=address,undefined \
						   -fno-sanitize-recover=all

RECORDER_BUILD = @mkdir -p $(@D) && \
	$(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) $< -o $@ $(LDFLAGS) -lpthread

$(O)/unit/recorder_%: $(RECORDER_DIR)/recorder_%.c $(RECORDER_DEPS)
	$(RECORDER_BUILD)

$(O)/unit/recorder_stress_tsan $(O)/unit/recorder_stress_asan: \
		$(RECORDER_DIR)/recorder_stress.c $(RECORDER_DEPS)
	$(RECORDER_BUILD)

UNIT_TESTS += $(addprefix $(O)/unit/,$(RECORDER_TESTS))

# The library's recorder, from its sources: the sanitizers have to see all of it.
RECORDER_LIB_DEPS := $(RECORDER_DIR)/recorder_library.c $(RECORDER_DIR)/tap.h $(LIB_SRCS) \
		     $(LIB_OBJS) $(wildcard user/src/*.h kmod/recorder.[ch])
RECORDER_LIB_TESTS := $(addprefix $(O)/unit/,recorder_library recorder_library_tsan \
		      recorder_library_asan)

$(O)/unit/recorder_library_tsan: RECORDER_CFLAGS := -fsanitize=thread \
						    -Wno-unknown-warning-option -Wno-tsan
$(O)/unit/recorder_library_asan: RECORDER_CFLAGS := -fsanitize=address,undefined \
						    -fno-sanitize-recover=all

$(RECORDER_LIB_TESTS): $(RECORDER_LIB_DEPS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@-core.o kmod/recorder.c \
		-include user/src/recorder_port.h
	$(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -o $@ $(RECORDER_DIR)/recorder_library.c \
		$(LIB_SRCS) $@-core.o $(filter %_schema_hash.o,$(LIB_OBJS)) $(LDFLAGS) $(LIB_LIBS) \
		-lpthread

UNIT_TESTS += $(RECORDER_LIB_TESTS)
