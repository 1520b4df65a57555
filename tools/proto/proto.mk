# SPDX-License-Identifier: GPL-2.0
#
# The messages of telemetry and tasks, compiled by protoc-c.

PROTOS := $(wildcard tools/proto/*/*.proto)
PROTO_HEADERS := $(PROTOS:tools/proto/%.proto=$(O)/obj/proto/%.pb-c.h)
PROTO_OBJS := $(PROTOS:tools/proto/%.proto=$(O)/obj/proto/%.pb-c.o)
PROTO_CPPFLAGS = -I$(O)/obj/proto $(shell $(PKG_CONFIG) --cflags libprotobuf-c)
PROTO_LIBS = $(shell $(PKG_CONFIG) --libs libprotobuf-c)

# Not to be removed as if they were only steps on the way.
.SECONDARY: $(PROTO_HEADERS) $(PROTO_HEADERS:.h=.c)

$(O)/obj/proto/%.pb-c.c $(O)/obj/proto/%.pb-c.h: tools/proto/%.proto
	@mkdir -p $(O)/obj/proto
	protoc-c -Itools/proto --c_out=$(O)/obj/proto $(<:tools/proto/%=%)

$(O)/obj/proto/%.pb-c.o: $(O)/obj/proto/%.pb-c.c $(PROTO_HEADERS)
	$(CC) $(ALL_CFLAGS) $(PROTO_CPPFLAGS) -c -o $@ $<
