# SPDX-License-Identifier: GPL-2.0
#
# libmonad_event: $(O)/lib/libmonad_event.{a,so,so.1}

LIB_VERSION = 1.0.0
LIB_SOVERSION = 1
LIB_A = $(O)/lib/libmonad_event.a
LIB_SO = $(O)/lib/libmonad_event.so.$(LIB_SOVERSION)
LIB_LINK = $(O)/lib/libmonad_event.so

# What who links the library itself, as opposed to the .so, needs besides it.
LIB_LIBS = -lzstd

LIB_SRCS = $(wildcard user/src/*.c)
LIB_OBJS = $(LIB_SRCS:user/src/%.c=$(O)/obj/user/%.o)
# The hashes of our own events' layouts; bpf/bpf.mk knows how they are made.
LIB_OBJS += $(if $(wildcard bpf/schema_hash.sh),$(O)/obj/user/storage_schema_hash.o \
						$(O)/obj/user/perf_schema_hash.o)
# The recorder is the kernel module's, over a port of our own.
LIB_OBJS += $(O)/obj/user/recorder.o

LIB_COMPILE = $(CC) $(ALL_CFLAGS) -fPIC -MMD -MP -c -o $@ $<

lib: $(LIB_A) $(LIB_SO) $(LIB_LINK)

$(O)/obj/user/%.o: user/src/%.c user/user.mk
	@mkdir -p $(@D)
	$(LIB_COMPILE)

$(O)/obj/user/%_schema_hash.o: $(O)/obj/%_schema_hash.c
	@mkdir -p $(@D)
	$(LIB_COMPILE)

$(O)/obj/user/recorder.o: kmod/recorder.c user/user.mk
	@mkdir -p $(@D)
	$(LIB_COMPILE) -include user/src/recorder_port.h

$(LIB_A): $(LIB_OBJS)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJS) user/libmonad_event.map
	@mkdir -p $(@D)
	$(CC) -shared $(ALL_CFLAGS) $(LDFLAGS) -Wl,-soname,$(notdir $@) \
		-Wl,--version-script=user/libmonad_event.map -Wl,-z,defs,-z,now \
		-o $@ $(LIB_OBJS) $(LIB_LIBS)

$(LIB_LINK): $(LIB_SO)
	ln -sf $(notdir $<) $@

install: install-lib
install-lib: lib
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/monad \
		$(DESTDIR)$(INCLUDEDIR)/monad_event $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)/
	ln -sf $(notdir $(LIB_SO)) $(DESTDIR)$(LIBDIR)/$(notdir $(LIB_LINK))
	sed -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(LIB_VERSION)|' user/libmonad_event.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/libmonad_event.pc
	install -m 644 uapi/monad/*.h $(DESTDIR)$(INCLUDEDIR)/monad/
	install -m 644 user/include/monad_event/*.h $(DESTDIR)$(INCLUDEDIR)/monad_event/
	install -m 644 bpf/monad_ring.bpf.h $(DESTDIR)$(INCLUDEDIR)/monad/
	install -m 644 user/man/*.3 $(DESTDIR)$(MANDIR)/man3/
	$(if $(DESTDIR),,ldconfig)

# What the library's users are promised; tools/testing/abi/check compares. For a change that is
# meant.
abi-accept: $(LIB_SO)
	tools/testing/abi/describe $(LIB_SO) >$(O)/libmonad_event.abi
	cp $(O)/libmonad_event.abi user/libmonad_event.abi

-include $(wildcard $(O)/obj/user/*.d)

.PHONY: install-lib abi-accept
