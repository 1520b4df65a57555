# SPDX-License-Identifier: GPL-2.0
#
# Exporters: they take batches of telemetry, and do not know what these are about.

TELEMETRY_OBJS := $(patsubst tools/telemetry/%.c,$(O)/obj/telemetry/%.o,$(wildcard tools/telemetry/*.c))
TELEMETRY_LIBS = $(shell $(PKG_CONFIG) --libs libcurl zlib)

$(O)/obj/telemetry/%.o: tools/telemetry/%.c $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/telemetry -Itools/lib $(PROTO_CPPFLAGS) -MMD -MP -c -o $@ $<

-include $(wildcard $(O)/obj/telemetry/*.d)
