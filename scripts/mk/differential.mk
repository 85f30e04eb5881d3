# SPDX-License-Identifier: GPL-2.0
#
# tests/differential/: kernels in CUDA C, each built for the CPU and to PTX by
# clang at four levels (and by nvcc where it is), the runner that compares them, and the
# generator of more.

DIFF := $(B)/differential
DIFF_KERNELS := $(sort $(wildcard tests/differential/kernels/*.cu))
DIFF_NAMES := $(DIFF_KERNELS:tests/differential/kernels/%.cu=%)
# What only nvcc can compile has no clang variant.
DIFF_NVCC_ONLY := $(patsubst tests/differential/kernels/%.cu,%,$(shell grep -l '^// only: nvcc' $(DIFF_KERNELS) /dev/null))
DIFF_CLANG_ONLY := $(patsubst tests/differential/kernels/%.cu,%,$(shell grep -l '^// only: clang' $(DIFF_KERNELS) /dev/null))
DIFF_LEVELS := O0 O1 O2 O3
DIFF_SHIM := tests/differential/compile.sh $(wildcard tests/differential/*.h)
export NVCC ?= $(shell command -v nvcc || { [ ! -x /usr/local/cuda/bin/nvcc ] || echo /usr/local/cuda/bin/nvcc; })
export CLANG

DIFF_SO := $(DIFF_NAMES:%=$(DIFF)/%.so)
DIFF_PTX := $(foreach l,$(DIFF_LEVELS),$(patsubst %,$(DIFF)/%-$(l).ptx,$(filter-out $(DIFF_NVCC_ONLY),$(DIFF_NAMES))))
DIFF_NVCC := $(foreach l,nvcc nvcc-G,$(patsubst %,$(DIFF)/%-$(l).ptx,$(filter-out $(DIFF_CLANG_ONLY),$(DIFF_NAMES))))

$(DIFF)/%.so: tests/differential/kernels/%.cu $(DIFF_SHIM) | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CPU,$<) tests/differential/compile.sh cpu $< $@
define diff_rule
$$(DIFF)/%-$(1).ptx: tests/differential/kernels/%.cu $$(DIFF_SHIM) | $$(B)/deps-build.stamp
	@mkdir -p $$(@D)
	$$(call say,PTX $(1),$$<) tests/differential/compile.sh $(1) $$< $$@
endef
$(foreach l,$(DIFF_LEVELS) nvcc nvcc-G,$(eval $(call diff_rule,$(l))))

# The reference's .so finds the lanes in the runner, hence -rdynamic.
DIFF_RUNNER := $(DIFF)/runner
DIFF_OBJ := $(patsubst %,$(B)/obj/tests/differential/%.o,runner buffers lanes functional timed silicon) \
	$(B)/obj/tests/silicon/driver.o $(B)/obj/tests/silicon/calls.o
-include $(DIFF_OBJ:.o=.d)
$(B)/obj/tests/differential/%.o: tests/differential/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) -Idaemon -Iinclude -Itests/differential -Itests/unit -Itests $(CFLAGS) $(DEPGEN) -c -o $@ $<
$(DIFF_RUNNER): $(DIFF_OBJ) $(LIB_OBJ) $(ROOM_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -rdynamic -o $@ $(DIFF_OBJ) $(LIB_OBJ) -Wl,--start-group $(ROOM_LIBS) -Wl,--end-group \
		$(ENGINE_LDLIBS) -ldl

DIFF_GENERATE := $(DIFF)/generate
$(DIFF_GENERATE): $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/differential/generate*.c))
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -o $@ $^

.PHONY: differential differential-nvcc differential-names fuzz-ptx fuzz-ptx-build
differential: $(DIFF_RUNNER) $(DIFF_SO) $(DIFF_PTX)
differential-nvcc: $(DIFF_RUNNER) $(DIFF_SO) $(DIFF_NVCC)
# One line a variant: its name, then the files that have it.
differential-names:
	@echo clang $(filter-out $(DIFF_NVCC_ONLY),$(DIFF_NAMES))
	@echo nvcc $(filter-out $(DIFF_CLANG_ONLY),$(DIFF_NAMES))

# make fuzz-ptx [SECONDS=n] [SEED=n] [KERNELS=n]: until stopped, or SECONDS, or KERNELS. What
# fails is kept in $(DIFF)/failed/ with its seed.
fuzz-ptx-build: $(DIFF_RUNNER) $(DIFF_GENERATE)
fuzz-ptx: fuzz-ptx-build
	$(Q)tests/differential/fuzz.sh $(DIFF) '$(SECONDS)' '$(SEED)' '$(KERNELS)'
