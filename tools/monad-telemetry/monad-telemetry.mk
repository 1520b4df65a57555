# SPDX-License-Identifier: GPL-2.0
#
# monad-telemetry-receive: the other end of 'monad-storage export --telemetry'. It knows the
# protocol and nothing of storage.

RECEIVE_SRCS := $(wildcard tools/monad-telemetry/*.c)
RECEIVE_OBJS := $(RECEIVE_SRCS:tools/monad-telemetry/%.c=$(O)/obj/monad-telemetry/%.o)
RECEIVE := $(O)/bin/monad-telemetry-receive
# Of the exporters' parts those that are of use to a receiver.
RECEIVE_PARTS := $(addprefix $(O)/obj/telemetry/,framing.o jsonl_exporter.o jsonl_line.o pb_fields.o pb_json.o stream_address.o)

TOOLS += $(RECEIVE)
MAN8 += tools/monad-telemetry/monad-telemetry-receive.8

$(O)/obj/monad-telemetry/%.o: tools/monad-telemetry/%.c $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/monad-telemetry -Itools/telemetry -Itools/lib \
		$(PROTO_CPPFLAGS) -MMD -MP -c -o $@ $<

$(RECEIVE): $(RECEIVE_OBJS) $(RECEIVE_PARTS) $(PROTO_OBJS) $(TOOLS_LIB_OBJS) $(O)/lib/libmonad_event.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROTO_LIBS) $(LIB_LIBS) $(LDLIBS)

-include $(wildcard $(O)/obj/monad-telemetry/*.d)
