# SPDX-License-Identifier: GPL-2.0
#
# make bench: what this machine can measure, in one table, and build/bench/results.json.

BENCH_DIR := tools/testing/bench

# Those that run natively, with bpf(2) at most ...
BENCH_NATIVE := recorder_native recorder_library read_native read_live readers_native
# ... and those that run in guests with the module.
BENCH_GUEST := writers matrix two_writers storage_io

BENCH_PROGRAMS := $(addprefix $(O)/bench/,$(BENCH_NATIVE) $(BENCH_GUEST))

$(O)/bench/%.bpf.o: $(BENCH_DIR)/%.bpf.c $(BENCH_DIR)/%.h bpf/monad_ring.bpf.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/bench/%.skel.h: $(O)/bench/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@

.SECONDARY: $(patsubst %,$(O)/bench/%.bpf.o,writers matrix read_native) \
	    $(patsubst %,$(O)/bench/%.skel.h,writers matrix read_native)

$(O)/bench/writers: $(O)/bench/writers.skel.h
$(O)/bench/matrix $(O)/bench/two_writers: $(O)/bench/matrix.skel.h
$(O)/bench/read_native $(O)/bench/read_live: $(O)/bench/read_native.skel.h

# recorder_native, read_*, readers_native compile the recorder.
$(O)/bench/%: $(BENCH_DIR)/%.c $(LIB_A) kmod/recorder.c $(wildcard kmod/recorder*.h) \
		user/src/recorder_port.h \
		$(wildcard $(BENCH_DIR)/*.h tools/testing/unit/recorder_*.h) \
		$(wildcard user/include/monad_event/*.h uapi/monad/*.h)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(O)/bench -I$(BENCH_DIR) $< -o $@ $(LDFLAGS) $(LIB_A) $(LIB_LIBS) -lbpf -pthread

# With what calling the shared library costs, since programs have that, too.
$(O)/bench/recorder_library: $(BENCH_DIR)/recorder_library.c $(BENCH_DIR)/bench.h $(LIB_LINK)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(BENCH_DIR) $< -o $@ $(LDFLAGS) -L$(O)/lib -lmonad_event \
		-Wl,-rpath,'$$ORIGIN/../lib'

# Has the parts of monad-storage that export reads with; for export-cost, which bench does not run.
$(O)/bench/export_events: $(BENCH_DIR)/export_events.c $(STORAGE_OBJS) $(STORAGE_PARTS) \
		$(TOOLS_LIB_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(STORAGE_CPPFLAGS) -Itools/testing/unit -o $@ $< $(LDFLAGS) \
		$(filter-out %/main.o,$(STORAGE_OBJS)) $(STORAGE_PARTS) $(TOOLS_LIB_OBJS) $(LIB_A) \
		$(STORAGE_LIBS) $(LIB_LIBS)

bench: $(BENCH_PROGRAMS)
	$(BENCH_DIR)/run
