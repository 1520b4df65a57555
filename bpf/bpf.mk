# SPDX-License-Identifier: GPL-2.0
#
# The BPF programs, objects for all kernels, their skeletons, and the schema
# hashes of the storage and perf events, which libmonad_event carries.

BPF_SOURCES := $(wildcard bpf/*.bpf.c bpf/*.h uapi/monad/*.h)

# The kernel's uapi headers have a part per architecture, which Debian keeps in
# a directory that clang does not look into for the bpf target.
BPF_ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/; s/ppc64le/powerpc/; s/s390x/s390/')
BPF_SYS_INCLUDES := $(addprefix -idirafter ,$(wildcard /usr/include/$(shell $(CC) -print-multiarch)))
BPF_CFLAGS = -g -O2 -target bpf -mcpu=v3 -std=gnu11 -Wall -Wextra -Werror \
	     -Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) -Ibpf -Iuapi $(BPF_SYS_INCLUDES)

# The recorder's programs, and those of tasks.
BPF_OBJECTS := monad_storage storage_task
BPF_SKELETONS := $(BPF_OBJECTS:%=$(O)/obj/%.skel.h)

bpf: $(BPF_OBJECTS:%=$(O)/bpf/%.bpf.o) $(BPF_SKELETONS) $(O)/obj/storage_schema_hash.c \
     $(O)/obj/perf_schema_hash.c

$(BPF_OBJECTS:%=$(O)/bpf/%.bpf.o): $(O)/bpf/%.bpf.o: bpf/%.bpf.c $(BPF_SOURCES)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	llvm-strip -g $@.tmp 2>/dev/null || true
	mv $@.tmp $@

$(BPF_SKELETONS): $(O)/obj/%.skel.h: $(O)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $* >$@

$(O)/obj/storage_schema.bpf.o: bpf/storage_schema.c uapi/monad/storage_event.h uapi/monad/event_ring.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/obj/perf_schema.bpf.o: bpf/perf_schema.c user/include/monad_event/perf_event_ctypes.h \
			    uapi/monad/event_ring.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -Iuser/include -c $< -o $@

SCHEMA_HASHES = $(O)/obj/storage_schema_hash.c $(O)/obj/perf_schema_hash.c

$(SCHEMA_HASHES): $(O)/obj/%_schema_hash.c: $(O)/obj/%_schema.bpf.o bpf/schema_hash.sh
	bpf/schema_hash.sh $(BPFTOOL) $< $* >$@
