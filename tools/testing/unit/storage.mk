# SPDX-License-Identifier: GPL-2.0
#
# Tests of monad-storage's parts that need no kernel: one program per
# test_storage_*.c, with the sources of the parts.

UNIT_STORAGE_TESTS = $(patsubst tools/testing/unit/%.c,$(O)/unit/%,$(wildcard tools/testing/unit/test_storage_*.c))

UNIT_TESTS += $(UNIT_STORAGE_TESTS)

$(O)/unit/test_storage_histogram: UNIT_SRCS = tools/monad-storage/metrics_histogram.c
$(O)/unit/test_storage_histogram: tools/monad-storage/metrics_histogram.c

AXIS_SRCS = $(addprefix tools/monad-storage/,axis.c page_time.c human.c)
HEATMAP_SRCS = $(AXIS_SRCS) $(addprefix tools/monad-storage/,heatmap.c heatmap_svg.c)

$(O)/unit/test_storage_axis: UNIT_SRCS = $(AXIS_SRCS)
$(O)/unit/test_storage_axis: $(AXIS_SRCS)

$(O)/unit/test_storage_heatmap: UNIT_SRCS = $(HEATMAP_SRCS)
$(O)/unit/test_storage_heatmap: $(HEATMAP_SRCS)

$(O)/unit/test_storage_top_table: UNIT_SRCS = tools/monad-storage/top_table.c
$(O)/unit/test_storage_top_table: tools/monad-storage/top_table.c

$(O)/unit/test_storage_room: UNIT_SRCS = tools/monad-storage/metrics_room.c
$(O)/unit/test_storage_room: tools/monad-storage/metrics_room.c

$(O)/unit/test_storage_%: tools/testing/unit/test_storage_%.c tools/testing/unit/storage.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -Itools/testing/unit -Itools/monad-storage -Itools/lib -Ibpf \
		$(LDFLAGS) -o $@ $< $(UNIT_SRCS)

-include $(wildcard $(O)/unit/test_storage_*.d)
