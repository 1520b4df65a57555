# SPDX-License-Identifier: GPL-2.0

MONAD_RING = $(O)/bin/monad-ring
TOOLS += $(MONAD_RING)
MAN8 += tools/monad-ring/monad-ring.8

# What all tools share.
TOOLS_LIB_OBJS = $(patsubst tools/lib/%.c,$(O)/obj/tools-lib/%.o,$(wildcard tools/lib/*.c))
MONAD_RING_OBJS = $(patsubst tools/monad-ring/%.c,$(O)/obj/monad-ring/%.o,\
		    $(wildcard tools/monad-ring/*.c))

$(O)/obj/tools-lib/%.o: tools/lib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/obj/monad-ring/%.o: tools/monad-ring/%.c tools/monad-ring/monad-ring.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itools/lib -DLIB_VERSION='"$(LIB_VERSION)"' -MMD -MP -c -o $@ $<

$(MONAD_RING): $(MONAD_RING_OBJS) $(TOOLS_LIB_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

install: install-monad-ring-completion
install-monad-ring-completion:
	install -d $(DESTDIR)$(COMPLETIONDIR)
	install -m 644 tools/monad-ring/completion.bash $(DESTDIR)$(COMPLETIONDIR)/monad-ring

.PHONY: install-monad-ring-completion

-include $(wildcard $(O)/obj/tools-lib/*.d $(O)/obj/monad-ring/*.d)
