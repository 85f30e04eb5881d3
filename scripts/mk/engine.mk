# SPDX-License-Identifier: GPL-2.0
#
# The engine: one static archive a room, and the daemon that links them.
# Rooms and their arrows come from scripts/rooms.txt.

# ROOMS, and CLOSURE_<room>: the room and all it may know, in link order.
-include $(B)/rooms.mk
$(B)/rooms.mk: scripts/rooms.txt scripts/rooms-mk.awk
	@mkdir -p $(@D)
	@awk -f scripts/rooms-mk.awk $< >$@

room_src = $(sort $(shell find daemon/$(1) -name '*.c' 2>/dev/null))
LIVE_ROOMS := $(foreach r,$(ROOMS),$(if $(call room_src,$(r)),$(r)))
live_closure = $(filter $(LIVE_ROOMS),$(CLOSURE_$(1)))

WARN   := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes \
	  -Wno-unused-parameter -Wno-missing-field-initializers
STD    := -std=gnu11 -D_GNU_SOURCE -fno-strict-aliasing
DEPGEN  = -MMD -MP
ENGINE_CFLAGS = $(STD) $(WARN) -Idaemon -Iinclude -fPIC -fvisibility=hidden
ASAN   := -fsanitize=address,undefined -fno-sanitize-recover=all \
	  -fno-omit-frame-pointer -O1 -g

# The ABI is visible where it may be known, and nowhere else. Speed is asked
# for where a simulation spends its time.
$(B)/obj/daemon/service/% $(B)/asan/obj/daemon/service/%: CPPFLAGS += -Iinclude/uapi
NL_CFLAGS = -I/usr/include/libnl3
$(B)/obj/daemon/ctl/% $(B)/asan/obj/daemon/ctl/%: CPPFLAGS += -Iinclude/uapi $(NL_CFLAGS)
$(B)/obj/daemon/exec/% $(B)/obj/daemon/sm/% $(B)/obj/daemon/mem/%: CFLAGS += -O3
# The lanes round where PTX does: no contraction; a square root sets no errno.
$(B)/obj/daemon/exec/% $(B)/asan/obj/daemon/exec/%: CPPFLAGS += -ffp-contract=off -fno-math-errno
# Where installed files are looked for: the tree they were built in, then the
# installed place. Only the programs and the library know it.
DATADIR_DEF = -DGPUEMU_DATADIR='"$(CURDIR):$(datadir)/gpuemu"' \
	-DGPUEMU_LIBDIR='"$(abspath $(B))/lib/gpuemu:$(libdir)/gpuemu"'

$(B)/datadir.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$(CURDIR):$(datadir):$(libdir)' | cmp -s - $@ || echo '$(CURDIR):$(datadir):$(libdir)' >$@

$(B)/obj/daemon/%.o: daemon/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(ENGINE_CFLAGS) $(CFLAGS) $(DEPGEN) -c -o $@ $<

$(B)/asan/obj/daemon/%.o: daemon/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC asan,$<) $(CC) $(CPPFLAGS) $(ENGINE_CFLAGS) $(ASAN) $(DEPGEN) -c -o $@ $<

# $(1): a room. Its archive is rebuilt from nothing so that no object of a
# deleted file stays in it.
define room_rules
OBJS_$(1) := $$(patsubst %.c,$$(B)/obj/%.o,$$(call room_src,$(1)))
ASAN_OBJS_$(1) := $$(patsubst %.c,$$(B)/asan/obj/%.o,$$(call room_src,$(1)))
$$(B)/lib/rooms/$(1).a: $$(OBJS_$(1))
	@mkdir -p $$(@D)
	$$(call say,AR,$$@) rm -f $$@; $$(AR) rcs $$@ $$(OBJS_$(1))
$$(B)/asan/lib/rooms/$(1).a: $$(ASAN_OBJS_$(1))
	@mkdir -p $$(@D)
	$$(call say,AR asan,$$@) rm -f $$@; $$(AR) rcs $$@ $$(ASAN_OBJS_$(1))
.PHONY: room-$(1)
room-$(1): $$(if $$(OBJS_$(1)),$$(B)/lib/rooms/$(1).a)
DEPS += $$(OBJS_$(1):.o=.d) $$(ASAN_OBJS_$(1):.o=.d)
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

# The sm room is compiled twice (daemon/sm/build.h): with sets of 64 warps, and with wider ones, of
# which one object is made that shows nothing but its calls.
SM_ONCE := $(addprefix daemon/sm/,build.c create.c extent.c kernel.c needs.c placement.c) $(wildcard daemon/sm/cta/*.c)
SM_TWICE := $(filter-out $(SM_ONCE),$(call room_src,sm))
$(SM_TWICE:%.c=$(B)/obj/%.o) $(SM_TWICE:%.c=$(B)/asan/obj/%.o): CPPFLAGS += -DSM_BUILD=narrow
SM_WIDE_DEF := -DSM_BUILD=wide -DSM_WIDE -Wno-psabi
$(B)/obj/wide/%.o: %.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC wide,$<) $(CC) $(CPPFLAGS) $(SM_WIDE_DEF) $(ENGINE_CFLAGS) $(CFLAGS) $(DEPGEN) -c -o $@ $<
$(B)/asan/obj/wide/%.o: %.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC asan,$<) $(CC) $(CPPFLAGS) $(SM_WIDE_DEF) $(ENGINE_CFLAGS) $(ASAN) $(DEPGEN) -c -o $@ $<
define sm_wide
$(1)/sm-wide.o: $(SM_TWICE:%.c=$(1)/wide/%.o)
	$$(call say,LD,$$@) $$(CC) -r -nostdlib -o $$@ $$^ && objcopy --wildcard --keep-global-symbol='wide_*' $$@
DEPS += $(SM_TWICE:%.c=$(1)/wide/%.d)
endef
$(eval $(call sm_wide,$(B)/obj))
$(eval $(call sm_wide,$(B)/asan/obj))
OBJS_sm += $(B)/obj/sm-wide.o
ASAN_OBJS_sm += $(B)/asan/obj/sm-wide.o
$(B)/lib/rooms/sm.a: $(B)/obj/sm-wide.o
$(B)/asan/lib/rooms/sm.a: $(B)/asan/obj/sm-wide.o

# The program of a loaded policy's process is carried by the room that starts it.
POLICY_HOST_SRC := $(sort $(wildcard policy-host/*.c))
POLICY_HOST_OBJ := $(POLICY_HOST_SRC:%.c=$(B)/obj/%.o) $(B)/obj/daemon/plugin/pages.o
POLICY_HOST := $(B)/libexec/gpuemu-policy-host
POLICY_HOST_EMBEDDED := $(B)/obj/policy-host/embedded.o
DEPS += $(POLICY_HOST_SRC:%.c=$(B)/obj/%.d)
$(B)/obj/policy-host/%.o: policy-host/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(ENGINE_CFLAGS) -Ipolicy-host $(CFLAGS) $(DEPGEN) -c -o $@ $<
# It is started out of another program's memory: what it needs beside libc is in it.
$(POLICY_HOST): $(POLICY_HOST_OBJ) $(B)/lib/rooms/base.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LDFLAGS) -s -Wl,--as-needed -o $@ $^ -l:libseccomp.a -ldl -lpthread
$(POLICY_HOST_EMBEDDED): $(POLICY_HOST) scripts/embed.sh
	$(call say,AS,$@) scripts/embed.sh gpuemu_policy_host $(POLICY_HOST) >$(@:.o=.S) && $(CC) -c -o $@ $(@:.o=.S)
OBJS_plugin += $(POLICY_HOST_EMBEDDED)
ASAN_OBJS_plugin += $(POLICY_HOST_EMBEDDED)
$(B)/lib/rooms/plugin.a $(B)/asan/lib/rooms/plugin.a: $(POLICY_HOST_EMBEDDED)

ROOM_LIBS := $(patsubst %,$(B)/lib/rooms/%.a,$(call live_closure,ALL))
ASAN_ROOM_LIBS := $(patsubst %,$(B)/asan/lib/rooms/%.a,$(call live_closure,ALL))
ENGINE_LDLIBS := -luring -lconfig -ljson-c -lm -lpthread

DAEMON_SRC := $(wildcard daemon/*.c)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(B)/obj/%.o)
$(DAEMON_OBJ): CPPFLAGS += $(DATADIR_DEF)
$(DAEMON_OBJ): $(B)/datadir.stamp
DEPS += $(DAEMON_OBJ:.o=.d)

PROGRAMS := $(if $(wildcard daemon/main.c),$(B)/bin/gpuemud)
$(B)/bin/gpuemud: $(DAEMON_OBJ) $(ROOM_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(DAEMON_OBJ) $(ROOM_LIBS) $(ENGINE_LDLIBS) -lseccomp

.PHONY: rooms
rooms: $(ROOM_LIBS)
