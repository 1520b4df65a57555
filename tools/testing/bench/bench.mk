# SPDX-License-Identifier: GPL-2.0
#
# make bench: what this machine can measure, in one table.

BENCH_DIR := tools/testing/bench

-include $(BENCH_DIR)/native.mk

$(O)/bench/writers.bpf.o: $(BENCH_DIR)/writers.bpf.c $(BENCH_DIR)/writers.h bpf/monad_ring.bpf.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/bench/writers.skel.h: $(O)/bench/writers.bpf.o
	$(BPFTOOL) gen skeleton $< name writers_bpf > $@

$(O)/bench/writers: $(BENCH_DIR)/writers.c $(O)/bench/writers.skel.h $(BENCH_DIR)/writers.h
	$(CC) $(ALL_CFLAGS) -I$(O)/bench -I$(BENCH_DIR) $< -o $@ $(LDFLAGS) -lbpf

bench: $(O)/bench/writers $(BENCH_PROGRAMS)
	$(BENCH_DIR)/run
