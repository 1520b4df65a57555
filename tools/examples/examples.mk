# SPDX-License-Identifier: GPL-2.0
#
# Complete programs to begin from: Documentation/writing-events.rst walks through them. Built
# with make examples, and run in guests by tools/examples/test.

EXAMPLES_DIR := tools/examples
EXAMPLES := first_event exec_events cpu_sampler

# A program's BPF objects, and its sources besides its own.
EXAMPLES_BPF := first_event exec_reserve exec_output exec_ringbuf exec_perfbuf cpu_sampler
EXEC_SOURCES := exec_monad.c exec_libbpf.c own_ring.c
SAMPLER_SOURCES := sample_top.c own_ring.c

$(EXAMPLES_BPF:%=$(O)/obj/%.bpf.o): $(O)/obj/%.bpf.o: $(EXAMPLES_DIR)/%.bpf.c \
		$(wildcard $(EXAMPLES_DIR)/*.h) bpf/monad_ring.bpf.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -Iuser/include -c $< -o $@

$(EXAMPLES_BPF:%=$(O)/obj/%.skel.h): $(O)/obj/%.skel.h: $(O)/obj/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(O)/bin/exec_events: $(EXEC_SOURCES:%=$(EXAMPLES_DIR)/%)
$(O)/bin/cpu_sampler: $(SAMPLER_SOURCES:%=$(EXAMPLES_DIR)/%) tools/lib/kallsyms.c

$(EXAMPLES:%=$(O)/bin/%): $(O)/bin/%: $(EXAMPLES_DIR)/%.c $(EXAMPLES_BPF:%=$(O)/obj/%.skel.h) \
		$(wildcard $(EXAMPLES_DIR)/*.h) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(O)/obj -Itools/lib $(filter %.c,$^) -o $@ $(LDFLAGS) $(LIB_A) -lbpf $(LIB_LIBS)

# Readers of any ring, in C and in C++.
$(O)/bin/eventwatch: $(EXAMPLES_DIR)/eventwatch.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ $(LDFLAGS) $(LIB_A) $(LIB_LIBS)

$(O)/bin/eventwatch-cc: $(EXAMPLES_DIR)/eventwatch.cc $(LIB_A)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 -Wall -Wextra -Wshadow $(CXXFLAGS) $(CPPFLAGS) $< -o $@ $(LDFLAGS) \
		$(LIB_A) $(LIB_LIBS)

examples: $(EXAMPLES:%=$(O)/bin/%) $(O)/bin/eventwatch $(O)/bin/eventwatch-cc

.PHONY: examples
