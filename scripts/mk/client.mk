# SPDX-License-Identifier: GPL-2.0
#
# What a user of gpuemu links or runs: libgpuemu (shared and static), the PTX
# of the workloads, and the gpuemu tool.

# --- libgpuemu: the client calls and the whole engine -----------------------
LIB_SRC := $(sort $(shell find libgpuemu -name '*.c' 2>/dev/null))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
LIB_ASAN_OBJ := $(LIB_SRC:%.c=$(B)/asan/obj/%.o)
LIB_MAP := libgpuemu/libgpuemu.map
LIB_SONAME := libgpuemu.so.0
LIB_CPPFLAGS = -Idaemon -Iinclude -Iinclude/uapi -Ilibgpuemu
DEPS += $(LIB_OBJ:.o=.d) $(LIB_ASAN_OBJ:.o=.d)
$(LIB_OBJ) $(LIB_ASAN_OBJ): $(B)/datadir.stamp

$(B)/obj/libgpuemu/%.o: libgpuemu/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) $(LIB_CPPFLAGS) $(CPPFLAGS) $(DATADIR_DEF) -fPIC $(CFLAGS) $(DEPGEN) -c -o $@ $<

$(B)/asan/obj/libgpuemu/%.o: libgpuemu/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC asan,$<) $(CC) $(STD) $(WARN) $(LIB_CPPFLAGS) $(CPPFLAGS) $(DATADIR_DEF) $(ASAN) $(DEPGEN) -c -o $@ $<

# The version script is the one list of what is public: the shared library
# exports it, the static one keeps it global and hides all else, so that a
# program's own `list_add` never meets the engine's.
# The netlink end is the tools'; a program that links the library needs no libnl.
LIB_ROOM_LIBS := $(filter-out %/ctl.a,$(ROOM_LIBS))

$(B)/lib/$(LIB_SONAME): $(LIB_OBJ) $(LIB_ROOM_LIBS) $(LIB_MAP)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=$(LIB_MAP) -Wl,-z,defs -Wl,--as-needed -o $@ \
		$(LIB_OBJ) $(LIB_ROOM_LIBS) $(ENGINE_LDLIBS)
	@ln -sf $(LIB_SONAME) $(B)/lib/libgpuemu.so

$(B)/lib/libgpuemu.syms: $(LIB_MAP)
	@mkdir -p $(@D)
	@sed -n '/global:/,/local:/s/^[ \t]*\([a-z_][a-z0-9_]*\);.*/\1/p' $< >$@

$(B)/lib/libgpuemu.a: $(LIB_OBJ) $(LIB_ROOM_LIBS) $(B)/lib/libgpuemu.syms
	@mkdir -p $(@D)
	$(call say,AR,$@) rm -f $@; \
		$(LD) -r -o $(B)/lib/libgpuemu.o $(LIB_OBJ) --whole-archive $(LIB_ROOM_LIBS) --no-whole-archive && \
		objcopy --keep-global-symbols=$(B)/lib/libgpuemu.syms $(B)/lib/libgpuemu.o && \
		$(AR) rcs $@ $(B)/lib/libgpuemu.o && rm -f $(B)/lib/libgpuemu.o

LIBS := $(if $(LIB_SRC),$(if $(wildcard $(LIB_MAP)),$(B)/lib/$(LIB_SONAME) $(B)/lib/libgpuemu.a))

# --- workloads: one C file is the kernel and its host side ------------------
WORKLOADS := $(shell sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' workloads/workloads.def 2>/dev/null)
EXAMPLE_PTX := $(patsubst examples/%.cu,$(B)/ptx/%.ptx,$(wildcard examples/*.cu))
PTX := $(WORKLOADS:%=$(B)/ptx/%.ptx) $(EXAMPLE_PTX)
DEVICE_FLAGS := -x cuda --cuda-device-only -nocudainc -nocudalib \
	--cuda-path=/nonexistent --cuda-gpu-arch=sm_35 -O2 -S -DGPUEMU_DEVICE \
	-Iworkloads -Wall -Werror -Wno-unknown-cuda-version
DEPS += $(PTX:.ptx=.d)

$(B)/ptx/%.ptx: workloads/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,PTX,$<) $(CLANG) $(DEVICE_FLAGS) -MD -MP -MF $(@:.ptx=.d) -MT $@ -o $@ $<

# As the README does it: a plain kernel, and the installed header named on the command line.
$(B)/ptx/%.ptx: examples/%.cu | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,PTX,$<) $(CLANG) $(DEVICE_FLAGS) -include workloads/device.h -MD -MP -MF $(@:.ptx=.d) -MT $@ -o $@ $<

$(B)/obj/ptx/%.S: $(B)/ptx/%.ptx scripts/embed.sh
	@mkdir -p $(@D)
	@scripts/embed.sh gpuemu_ptx_$* $< >$@

$(B)/obj/ptx/%.o: $(B)/obj/ptx/%.S $(B)/ptx/%.ptx
	$(call say,AS,$<) $(CC) -c -o $@ $<

# --- Python: what asks a policy that is written in it -----------------------------
PYTHON_POLICY := $(B)/lib/gpuemu-python-policy.so
DEPS += $(PYTHON_POLICY:.so=.d)
$(PYTHON_POLICY): python/policy.c
	@mkdir -p $(@D)
	$(call say,POLICY,$<) $(CC) -shared -fPIC $(STD) $(WARN) -Iinclude $(CFLAGS) $(DEPGEN) -o $@ $<
LIBS += $(PYTHON_POLICY) $(B)/lib/gpuemu-uninstalled.pc

# --- policies in objects of their own: the examples, and what tests load ---------
POLICIES := $(patsubst %.c,$(B)/%.so,$(wildcard examples/policy/*.c))
TEST_POLICIES := $(patsubst %.c,$(B)/%.so,$(wildcard tests/policy/*.c))
DEPS += $(POLICIES:.so=.d) $(TEST_POLICIES:.so=.d)
$(POLICIES) $(TEST_POLICIES): $(B)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,POLICY,$<) $(CC) -shared -fPIC $(STD) $(WARN) -Iinclude $(CFLAGS) $(DEPGEN) -o $@ $<

.PHONY: policies
policies: $(POLICIES) $(TEST_POLICIES)

# --- the tool -----------------------------------------------------------------
TOOL_SRC := $(sort $(shell find tools workloads -name '*.c' 2>/dev/null))
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/obj/%.o)
TOOL_ASAN_OBJ := $(TOOL_SRC:%.c=$(B)/asan/obj/%.o)
TOOL_PTX_OBJ := $(WORKLOADS:%=$(B)/obj/ptx/%.o)
TOOL_CPPFLAGS = -Itools -Iworkloads -Iinclude -Idaemon -I.
TOOL_LDLIBS := -luring -lconfig -ljson-c -lyajl -lcrypto -lnl-genl-3 -lnl-3 -lm -lpthread
DEPS += $(TOOL_OBJ:.o=.d) $(TOOL_ASAN_OBJ:.o=.d)
$(TOOL_OBJ) $(TOOL_ASAN_OBJ): $(B)/datadir.stamp

define tool_rules
$$(B)/obj/$(1)/%.o: $(1)/%.c | $$(B)/deps-build.stamp
	@mkdir -p $$(@D)
	$$(call say,CC,$$<) $$(CC) $$(STD) $$(WARN) $$(TOOL_CPPFLAGS) $$(CPPFLAGS) $$(DATADIR_DEF) $$(CFLAGS) $$(DEPGEN) -c -o $$@ $$<
$$(B)/asan/obj/$(1)/%.o: $(1)/%.c | $$(B)/deps-build.stamp
	@mkdir -p $$(@D)
	$$(call say,CC asan,$$<) $$(CC) $$(STD) $$(WARN) $$(TOOL_CPPFLAGS) $$(CPPFLAGS) $$(DATADIR_DEF) $$(ASAN) $$(DEPGEN) -c -o $$@ $$<
endef
$(eval $(call tool_rules,tools))
$(eval $(call tool_rules,workloads))

# The tool also lists and checks with rooms that scripts/rooms.txt lets it know,
# so it links the library's objects beside the rooms: one engine, not two.
PROGRAMS += $(if $(wildcard tools/main.c),$(B)/bin/gpuemu)
$(B)/bin/gpuemu: $(TOOL_OBJ) $(TOOL_PTX_OBJ) $(LIB_OBJ) $(ROOM_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(TOOL_OBJ) $(TOOL_PTX_OBJ) \
		$(LIB_OBJ) $(ROOM_LIBS) $(TOOL_LDLIBS)

.PHONY: programs libs ptx
programs: $(PROGRAMS)
libs: $(LIBS) cuda
ptx: $(PTX)
