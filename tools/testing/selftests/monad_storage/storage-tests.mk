# SPDX-License-Identifier: GPL-2.0
#
# What the storage tests bring with them into the guest.

NOISY = $(O)/storage-tests/noisy
KEEP_UP = $(O)/storage-tests/keep_up
TASK_SOCKET = $(O)/storage-tests/task_socket

storage-tests: $(NOISY) $(KEEP_UP) $(TASK_SOCKET)

$(O)/storage-tests/%.bpf.o: tools/testing/selftests/monad_storage/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/storage-tests/%.skel.h: $(O)/storage-tests/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(NOISY): tools/testing/selftests/monad_storage/noisy.c $(O)/storage-tests/noisy.skel.h
	$(CC) $(ALL_CFLAGS) -I$(O)/storage-tests -o $@ $< $(shell $(PKG_CONFIG) --libs libbpf)

$(KEEP_UP): tools/testing/selftests/monad_storage/keep_up.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)

$(TASK_SOCKET): tools/testing/selftests/monad_storage/task_socket.c \
		$(O)/obj/telemetry/framing.o $(PROTO_OBJS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/telemetry $(PROTO_CPPFLAGS) -o $@ $^ $(PROTO_LIBS)

.PHONY: storage-tests
