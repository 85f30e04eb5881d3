# SPDX-License-Identifier: GPL-2.0
#
# tests/cycles/: the cycle model against reference numbers (make validate), how fast it
# is (make bench-sim), and its micro-benchmarks. The programs are users of libgpuemu.a.

CYCLES := $(B)/cycles
# GPGPU-Sim's numbers: those beside this tree, else the copy in it.
REFERENCE ?= $(firstword $(wildcard ../shared/reference/cycles) tests/cycles/reference)
VALIDATE_JOBS ?= $(shell nproc)
CYCLES_SRC := $(wildcard tests/cycles/*.c)
CYCLES_OBJ := $(CYCLES_SRC:%.c=$(B)/obj/%.o)
-include $(CYCLES_OBJ:.o=.d)
$(B)/obj/tests/cycles/%.o: tests/cycles/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) -Iinclude -Itests/cycles -Itools $(CFLAGS) $(DEPGEN) -c -o $@ $<

# $(1): a program. $(2): its files.
define cycles_program
$(CYCLES)/$(1): $(patsubst %,$(B)/obj/tests/cycles/%.o,$(2)) $(B)/lib/libgpuemu.a
	@mkdir -p $$(@D)
	$$(call say,LD,$$@) $$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(ENGINE_LDLIBS)
endef
$(eval $(call cycles_program,validate,validate run reference inputs))
$(eval $(call cycles_program,bench,bench run reference inputs))
# Its heap is as the gpuemu command's.
$(CYCLES)/bench: $(B)/obj/tools/heap.o
$(eval $(call cycles_program,micro,micro run))
$(eval $(call cycles_program,robust,robust run))

# The extra kernels are CUDA C, as a user's are.
CYCLES_PTX := $(patsubst tests/cycles/kernels/%.cu,$(CYCLES)/ptx/%.ptx,$(wildcard tests/cycles/kernels/*.cu))
$(CYCLES)/ptx/%.ptx: tests/cycles/kernels/%.cu | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,PTX,$<) $(CLANG) $(DEVICE_FLAGS) -o $@ $<

.PHONY: cycles validate bench-sim bench-vt
cycles: $(CYCLES)/validate $(CYCLES)/bench $(CYCLES)/micro $(CYCLES)/robust $(CYCLES_PTX)

# make validate [KERNELS="vecadd lrr/gather"] [REFERENCE=folder] [VALIDATE_JOBS=n]
validate: $(CYCLES)/validate
	$(Q)$(CYCLES)/validate -r $(REFERENCE) -j $(VALIDATE_JOBS) $(KERNELS)

# make bench-sim [KERNELS=...] [BENCH_RUNS=n]
bench-sim: $(CYCLES)/bench
	$(Q)$(CYCLES)/bench -r $(REFERENCE) -n $(BENCH_RUNS) $(KERNELS)

# make bench-vt: host instructions a warp instruction with Virtual Thread, over those without
bench-vt: programs $(B)/deps-check.stamp
	$(Q)tests/cycles/vt.sh
