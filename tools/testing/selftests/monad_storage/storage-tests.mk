# SPDX-License-Identifier: GPL-2.0
#
# What the storage tests bring with them into the guest.

NOISY = $(O)/storage-tests/noisy

storage-tests: $(NOISY)

$(O)/storage-tests/%.bpf.o: tools/testing/selftests/monad_storage/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/storage-tests/%.skel.h: $(O)/storage-tests/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(NOISY): tools/testing/selftests/monad_storage/noisy.c $(O)/storage-tests/noisy.skel.h
	$(CC) $(ALL_CFLAGS) -I$(O)/storage-tests -o $@ $< $(shell $(PKG_CONFIG) --libs libbpf)

.PHONY: storage-tests
