# SPDX-License-Identifier: GPL-2.0
#
# The transformer: what was seen of storage, made into telemetry. It sees no BPF, no
# ring and no exporter.

TRANSFORM_OBJS := $(patsubst tools/transform/%.c,$(O)/obj/transform/%.o,$(wildcard tools/transform/*.c))

$(O)/obj/transform/%.o: tools/transform/%.c $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/transform -Itools/lib $(PROTO_CPPFLAGS) -MMD -MP -c -o $@ $<

-include $(wildcard $(O)/obj/transform/*.d)
