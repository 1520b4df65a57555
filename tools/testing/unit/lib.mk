# SPDX-License-Identifier: GPL-2.0
#
# Tests of libmonad_event: one program per test_lib_*.c, each prints TAP and
# exits 0 (passed), 1 (failed) or 77 (skipped).

UNIT_LIB_SRCS = $(wildcard tools/testing/unit/test_lib_*.c)
UNIT_LIB_TESTS = $(UNIT_LIB_SRCS:tools/testing/unit/%.c=$(O)/unit/%) $(O)/unit/test_lib_cxx

UNIT_TESTS += $(UNIT_LIB_TESTS)

# test_lib_device lets a file pose as a device.
$(O)/unit/test_lib_device: UNIT_WRAP = -Wl,--wrap=ioctl,--wrap=fstat

# test_lib_no_syscall counts allocations, too.
$(O)/unit/test_lib_no_syscall: UNIT_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

# As test_lib_device, but for the calls that need the device's name.
$(O)/unit/test_lib_ring_device: UNIT_WRAP = -Wl,--wrap=ioctl,--wrap=open,--wrap=close

$(O)/unit/test_lib_%: tools/testing/unit/test_lib_%.c $(LIB_A) tools/testing/unit/lib.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -Itools/testing/unit $(LDFLAGS) $(UNIT_WRAP) \
		-o $@ $< $(UNIT_OBJS) $(LIB_A) $(LIB_LIBS) -pthread

# Under a live writer, which is the module's recorder.
$(O)/unit/test_lib_live $(O)/unit/test_lib_noalloc $(O)/unit/test_lib_wait: \
		kmod/recorder.c kmod/recorder.h $(wildcard tools/testing/unit/*.h)

# Of what the tools share.
TOOLS_LIB_TESTS = $(O)/unit/test_lib_json $(O)/unit/test_lib_new_file $(O)/unit/test_lib_interrupt
$(TOOLS_LIB_TESTS): UNIT_OBJS = $(TOOLS_LIB_OBJS)
$(TOOLS_LIB_TESTS): $(TOOLS_LIB_OBJS)

# Notes what is done in which order.
$(O)/unit/test_lib_new_file: UNIT_WRAP = -Wl,--wrap=open,--wrap=fsync,--wrap=syncfs,--wrap=rename \
	-Wl,--wrap=renameat2,--wrap=link,--wrap=linkat

# Parts of monad-storage: all of it but main().
STORAGE_TESTS = $(O)/unit/test_lib_samples $(O)/unit/test_lib_http $(O)/unit/test_lib_sources \
		$(O)/unit/test_lib_transform_ring
STORAGE_TESTS += $(O)/unit/test_lib_exported
STORAGE_TESTS += $(O)/unit/test_lib_task_request $(O)/unit/test_lib_task_message \
		 $(O)/unit/test_lib_server $(O)/unit/test_lib_socket_file \
		 $(O)/unit/test_lib_pressure
$(STORAGE_TESTS): private override CPPFLAGS += $(STORAGE_CPPFLAGS)
$(STORAGE_TESTS): UNIT_OBJS = $(STORAGE_TEST_OBJS) $(STORAGE_PARTS) $(TOOLS_LIB_OBJS) $(LIB_A) $(STORAGE_LIBS)
STORAGE_TEST_OBJS = $(filter-out %/main.o,$(STORAGE_OBJS))
$(STORAGE_TESTS): $(STORAGE_OBJS) $(STORAGE_PARTS) $(TOOLS_LIB_OBJS)

# The transformer, all of it.
TRANSFORM_TESTS = $(filter-out $(STORAGE_TESTS),$(filter $(O)/unit/test_lib_transform_%,$(UNIT_LIB_TESTS)))
$(TRANSFORM_TESTS): private override CPPFLAGS += -Itools/transform -Itools/lib $(PROTO_CPPFLAGS)
$(TRANSFORM_TESTS): UNIT_OBJS = $(TRANSFORM_OBJS) $(PROTO_OBJS) $(TOOLS_LIB_OBJS) $(PROTO_LIBS)
$(TRANSFORM_TESTS): $(TRANSFORM_OBJS) $(PROTO_OBJS) $(TOOLS_LIB_OBJS)
# Has memory run out.
$(O)/unit/test_lib_transform_memory: UNIT_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# These act while a snapshot is taken, the second also where there is no O_TMPFILE.
$(O)/unit/test_lib_snapshot_write: UNIT_WRAP = -Wl,--wrap=ZSTD_compressStream2
$(O)/unit/test_lib_snapshot_file: UNIT_WRAP = -Wl,--wrap=ZSTD_compressStream2,--wrap=openat \
	-Wl,--wrap=fsync

# Has the recorder in it.
$(O)/unit/test_lib_snapshot_live: kmod/recorder.c kmod/recorder.h

# Lets a file system have no O_TMPFILE.
$(O)/unit/test_lib_crash: UNIT_WRAP = -Wl,--wrap=openat
# And others act between two steps of the library.
$(O)/unit/test_lib_writer: UNIT_WRAP = -Wl,--wrap=openat,--wrap=flock
# And knows what room is asked for.
$(O)/unit/test_lib_writer_room: UNIT_WRAP = -Wl,--wrap=openat,--wrap=posix_fallocate

# As others compile it: with their -std, and nothing from us but where the headers are. (tap.h
# and POSIX need the feature macro.)
COMPAT_CFLAGS = $(CFLAGS) -Wall -Wextra -Werror -D_DEFAULT_SOURCE -Iuapi -Iuser/include \
		-Itools/testing/unit

$(O)/unit/test_lib_compat: tools/testing/unit/test_lib_compat.c $(LIB_A) tools/testing/unit/lib.mk
	@mkdir -p $(@D)
	for std in c11 c17 c2x gnu11; do \
		$(CC) -std=$$std $(COMPAT_CFLAGS) -fsyntax-only $< || exit; \
	done
	$(CC) -std=c17 $(COMPAT_CFLAGS) $(LDFLAGS) -o $@ $< $(LIB_A) $(LIB_LIBS) -pthread

# Runs the command that is built.
$(O)/unit/test_lib_tool $(O)/unit/test_lib_tool_verbs $(O)/unit/test_lib_tool_check \
$(O)/unit/test_lib_snapshot_tool: $(MONAD_RING)

# The same for the examples.
$(O)/unit/test_lib_examples: $(O)/bin/eventwatch $(O)/bin/eventwatch-cc

# The headers in C++: every one of them alone, and a program that uses them.
CXXFLAGS ?= -O2 -g
UNIT_CXXFLAGS = -std=gnu++17 -Wall -Wextra -Wshadow $(CXXFLAGS) $(CPPFLAGS)

$(O)/unit/test_lib_cxx: tools/testing/unit/test_lib_cxx.cc $(LIB_A) tools/testing/unit/lib.mk \
			$(wildcard user/include/monad_event/*.h uapi/monad/*.h)
	@mkdir -p $(@D)
	for header in $(patsubst user/include/%,%,$(wildcard user/include/monad_event/*.h)) \
		      $(patsubst uapi/%,%,$(wildcard uapi/monad/*.h)); do \
		echo "#include <$$header>" | \
		$(CXX) $(UNIT_CXXFLAGS) -Werror -fsyntax-only -x c++ - || exit; \
	done
	$(CXX) $(UNIT_CXXFLAGS) $(LDFLAGS) -o $@ $< $(LIB_A) $(LIB_LIBS)

-include $(wildcard $(O)/unit/test_lib_*.d)
