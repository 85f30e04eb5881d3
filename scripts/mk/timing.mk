# SPDX-License-Identifier: GPL-2.0
#
# tests/silicon/timing/: how long instructions, memory, copies and launches take, on a real GPU by its
# driver and on gpuemu's model. The programs for a real GPU need libc alone.

TIMING := $(B)/silicon/timing
TIMING_OBJ := $(patsubst tests/silicon/timing/%.c,$(B)/obj/tests/silicon/timing/%.o,$(wildcard tests/silicon/timing/*.c))
-include $(TIMING_OBJ:.o=.d)
$(B)/obj/tests/silicon/timing/%.o: tests/silicon/timing/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) -Iinclude -Idaemon -Iworkloads -Itests $(CFLAGS) $(DEPGEN) -c -o $@ $<

# $(1): a program. $(2): its files. $(3): what else it is made of
define timing_program
$(TIMING)/$(1): $(patsubst %,$(B)/obj/tests/silicon/timing/%.o,$(2)) $(3)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@) $$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $(4)
endef
$(eval $(call timing_program,timing,timing cuda,$(B)/obj/tests/silicon/calls.o,-ldl))
$(eval $(call timing_program,link,link cuda,$(B)/obj/tests/silicon/calls.o,-ldl))
$(eval $(call timing_program,whole,whole whole_cuda cuda,$(B)/obj/tests/silicon/calls.o $(filter $(B)/obj/workloads/%,$(TOOL_OBJ)) \
	$(TOOL_PTX_OBJ) $(B)/obj/daemon/base/err.o $(B)/obj/daemon/base/nearest.o,-lm -ldl))
$(eval $(call timing_program,timing-sim,timing sim,$(B)/lib/libgpuemu.a,$(ENGINE_LDLIBS)))

.PHONY: timing
timing: $(TIMING)/timing $(TIMING)/link $(TIMING)/whole $(TIMING)/timing-sim
