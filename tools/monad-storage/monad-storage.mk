# SPDX-License-Identifier: GPL-2.0
#
# monad-storage: the storage flight recorder.

STORAGE_SRCS := $(wildcard tools/monad-storage/*.c)
STORAGE_OBJS := $(STORAGE_SRCS:tools/monad-storage/%.c=$(O)/obj/monad-storage/%.o)
STORAGE_CPPFLAGS = -Itools/monad-storage -Itools/transform -Itools/telemetry -Itools/lib -Ibpf -I$(O)/obj $(PROTO_CPPFLAGS) $(shell $(PKG_CONFIG) --cflags libbpf libmicrohttpd inih libdw)
# What the commands are made of besides their own files and what all tools share.
STORAGE_PARTS = $(TRANSFORM_OBJS) $(TELEMETRY_OBJS) $(PROTO_OBJS)
STORAGE_LIBS = $(PROTO_LIBS) $(TELEMETRY_LIBS) -pthread $(shell $(PKG_CONFIG) --libs libbpf libmicrohttpd inih libdw)

TOOLS += $(O)/bin/monad-storage
MAN8 += tools/monad-storage/monad-storage.8

$(O)/obj/monad-storage/%.o: tools/monad-storage/%.c tools/monad-storage/monad-storage.mk \
			    $(BPF_SKELETONS) $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(STORAGE_CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/bin/monad-storage: $(STORAGE_OBJS) $(STORAGE_PARTS) $(TOOLS_LIB_OBJS) $(O)/lib/libmonad_event.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(STORAGE_LIBS) $(LIB_LIBS) $(LDLIBS)

# Runs the command that is built.
$(O)/unit/test_lib_storage $(O)/unit/test_lib_report $(O)/unit/test_lib_snapshot_tool: \
		$(O)/bin/monad-storage

install: install-monad-storage-completion install-monad-storage-unit
install-monad-storage-completion:
	install -d $(DESTDIR)$(COMPLETIONDIR)
	install -m 644 tools/monad-storage/completion.bash $(DESTDIR)$(COMPLETIONDIR)/monad-storage

# Neither enabled nor started. Settings that are there already stay as they are.
install-monad-storage-unit:
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)
	for unit in monad-storage.service monad-storage-exporter.service \
		    monad-storage-tasks.service monad-storage-tasks.socket; do \
		sed 's|/usr/local/sbin|$(SBINDIR)|; s|/etc/|$(SYSCONFDIR)/|' packaging/$$unit \
			>$(DESTDIR)$(UNITDIR)/$$unit && \
		chmod 644 $(DESTDIR)$(UNITDIR)/$$unit || exit; \
	done
	[ -e $(DESTDIR)$(SYSCONFDIR)/monad-storage.conf ] || \
		install -m 644 packaging/monad-storage.conf $(DESTDIR)$(SYSCONFDIR)/monad-storage.conf

.PHONY: install-monad-storage-completion install-monad-storage-unit

-include $(wildcard $(O)/obj/monad-storage/*.d)
