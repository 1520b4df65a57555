# SPDX-License-Identifier: GPL-2.0
#
# Tests of the exporters, which know nothing of storage: test_lib_export_*.c.

EXPORT_TESTS = $(patsubst tools/testing/unit/%.c,$(O)/unit/%,$(wildcard tools/testing/unit/test_lib_export_*.c))

$(EXPORT_TESTS): private override CPPFLAGS += -Itools/telemetry -Itools/lib $(PROTO_CPPFLAGS)
$(EXPORT_TESTS): UNIT_OBJS = $(TELEMETRY_OBJS) $(PROTO_OBJS) $(TOOLS_LIB_OBJS) $(TELEMETRY_LIBS) $(PROTO_LIBS)
# Some run the receiver.
$(EXPORT_TESTS): $(TELEMETRY_OBJS) $(PROTO_OBJS) $(TOOLS_LIB_OBJS) $(RECEIVE)
