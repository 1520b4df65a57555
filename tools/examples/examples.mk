# SPDX-License-Identifier: GPL-2.0
#
# Small complete programs to begin from; built, and run in the tests.

EXAMPLES_DIR := tools/examples

$(O)/obj/exec_events.bpf.o: $(EXAMPLES_DIR)/exec_events.bpf.c $(EXAMPLES_DIR)/exec_events.h \
			    bpf/monad_ring.bpf.h uapi/monad/event_ring.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/obj/exec_events.skel.h: $(O)/obj/exec_events.bpf.o
	$(BPFTOOL) gen skeleton $< name exec_events_bpf >$@

$(O)/bin/exec_events: $(EXAMPLES_DIR)/exec_events.c $(O)/obj/exec_events.skel.h \
		      $(EXAMPLES_DIR)/exec_events.h $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(O)/obj $< -o $@ $(LDFLAGS) $(LIB_A) -lbpf $(LIB_LIBS)

# Readers of any ring, in C and in C++.
$(O)/bin/eventwatch: $(EXAMPLES_DIR)/eventwatch.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ $(LDFLAGS) $(LIB_A) $(LIB_LIBS)

$(O)/bin/eventwatch-cc: $(EXAMPLES_DIR)/eventwatch.cc $(LIB_A)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 -Wall -Wextra -Wshadow $(CXXFLAGS) $(CPPFLAGS) $< -o $@ $(LDFLAGS) $(LIB_A) $(LIB_LIBS)

examples: $(O)/bin/exec_events $(O)/bin/eventwatch $(O)/bin/eventwatch-cc

.PHONY: examples
