# SPDX-License-Identifier: GPL-2.0
#
# Tests. Unit tests are cmocka programs built with ASan and UBSan; a test of a
# room links that room and what the room may know, nothing else. Kernel tests
# are kselftest programs that run in the VM. `make check` runs tests/check.d/.

# --- unit tests -----------------------------------------------------------------
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
unit_room = $(word 2,$(subst _, ,$(notdir $(1))))
DEPS += $(UNIT:=.d)

# The archives a test program of room $(1) may link.
asan_libs = $(patsubst %,$(B)/asan/lib/rooms/%.a,$(call live_closure,$(1)))
LIB_UNIT_OBJ = $(LIB_ASAN_OBJ)
TOOL_UNIT_OBJ = $(filter-out %/tools/main.o,$(TOOL_ASAN_OBJ)) $(TOOL_PTX_OBJ)
DAEMON_UNIT_OBJ = $(patsubst %.c,$(B)/asan/obj/%.o,$(filter-out %/main.c %/malloc.c,$(DAEMON_SRC)))
$(DAEMON_UNIT_OBJ): CPPFLAGS += $(DATADIR_DEF)
# What the fuzzer of the module holds for right.
FUZZ_UNIT_OBJ = $(B)/asan/obj/tests/kernel/fuzz/model.o
$(FUZZ_UNIT_OBJ): tests/kernel/fuzz/model.c | $(B)/deps-check.stamp
	@mkdir -p $(@D)
	$(call say,CC asan,$<) $(CC) $(STD) $(WARN) -Itests/kernel -Iinclude/uapi $(ASAN) $(DEPGEN) -c -o $@ $<
DEPS += $(DAEMON_UNIT_OBJ:.o=.d) $(FUZZ_UNIT_OBJ:.o=.d)
# What libcudart reads of a program's own bytes has tests here; tests/cuda tests the rest.
CUDA_UNIT_OBJ = $(addprefix $(B)/asan/obj/cuda/cudart/,fatbin.o link.o pieces.o)
$(CUDA_UNIT_OBJ): $(B)/asan/obj/%.o: %.c | $(B)/deps-check.stamp
	@mkdir -p $(@D)
	$(call say,CC asan,$<) $(CC) $(STD) $(WARN) $(CUDART_CPPFLAGS) $(ASAN) $(DEPGEN) -c -o $@ $<
DEPS += $(CUDA_UNIT_OBJ:.o=.d)
unit_parts = $(if $(filter cuda,$(1)),$(CUDA_UNIT_OBJ),$(if $(filter daemon,$(1)),$(DAEMON_UNIT_OBJ) $(ASAN_ROOM_LIBS),$(if $(filter libgpuemu,$(1)),$(LIB_UNIT_OBJ) $(ASAN_ROOM_LIBS),\
	$(if $(filter tools workloads,$(1)),$(TOOL_UNIT_OBJ) $(LIB_UNIT_OBJ) $(ASAN_ROOM_LIBS),\
	$(if $(filter fuzz,$(1)),$(FUZZ_UNIT_OBJ),$(call asan_libs,$(1)))))))
unit_uapi = $(if $(filter service libgpuemu fuzz,$(1)),-Iinclude/uapi) $(if $(filter fuzz,$(1)),-Itests/kernel)

define unit_rule
$(1): tests/unit/$(notdir $(1)).c $$(call unit_parts,$(2)) | $$(B)/deps-check.stamp
	@mkdir -p $$(@D)
	$$(call say,TEST,$$@) $$(CC) $$(STD) $$(WARN) -Idaemon -Iinclude $(call unit_uapi,$(2)) \
		$$(if $$(filter tools workloads libgpuemu,$(2)),-Itools -Iworkloads -Ilibgpuemu) $$(DATADIR_DEF) \
		$$(if $$(filter cuda,$(2)),$$(CUDART_CPPFLAGS)) \
		$$(ASAN) $$(DEPGEN) -MF $$@.d -o $$@ $$< \
		$$(UNIT_LD) -Wl,--start-group $$(filter %.o %.a,$$^) -Wl,--end-group -Wl,--as-needed -lcmocka -lseccomp -llz4 -lzstd $$(TOOL_LDLIBS)
UNIT_$(2) += $(1)
endef
$(foreach t,$(UNIT),$(eval $(call unit_rule,$(t),$(call unit_room,$(t)))))

# The module is functions of the test, which come before those of service.
$(filter %/test_daemon_works,$(UNIT)): UNIT_LD = -Wl,--allow-multiple-definition

$(filter %/test_plugin_bad,$(UNIT)): | $(POLICIES) $(TEST_POLICIES)

# The lanes are what the compiler makes of loops, so their tests are built again
# with the release's flags, without the sanitisers: an optimiser's doing shows here.
RELEASE_TESTS := $(addprefix test_exec_,tables float integer extended half convert crossing)
RELEASE_UNIT := $(RELEASE_TESTS:%=$(B)/tests/unit/%-release)
DEPS += $(RELEASE_UNIT:=.d)
$(RELEASE_UNIT): $(B)/tests/unit/%-release: tests/unit/%.c \
		$(patsubst %,$(B)/lib/rooms/%.a,$(call live_closure,exec)) | $(B)/deps-check.stamp
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -Idaemon -Iinclude $(CFLAGS) $(DEPGEN) -MF $@.d -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -Wl,--as-needed -lcmocka $(ENGINE_LDLIBS)
UNIT_exec += $(RELEASE_UNIT)
# The daemon counts what it allocates, which the sanitisers' allocator does not.
DAEMON_RELEASE := $(B)/tests/unit/test_daemon_works-release
DEPS += $(DAEMON_RELEASE).d
$(DAEMON_RELEASE): tests/unit/test_daemon_works.c $(filter-out %/main.o,$(DAEMON_OBJ)) $(ROOM_LIBS) | $(B)/deps-check.stamp
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -Idaemon -Iinclude $(CFLAGS) $(DEPGEN) -MF $@.d -o $@ $< \
		-Wl,--allow-multiple-definition -Wl,--start-group $(filter %.o %.a,$^) -Wl,--end-group -lcmocka -lseccomp $(ENGINE_LDLIBS)
UNIT_daemon += $(DAEMON_RELEASE)
.PHONY: release-unit-names
release-unit-names:
	@echo $(notdir $(RELEASE_UNIT) $(DAEMON_RELEASE))

# make test-ROOM builds and runs that room's tests, however broken others are.
.PHONY: unit
unit: $(UNIT) $(RELEASE_UNIT) $(DAEMON_RELEASE)
TESTABLE := $(ROOMS) daemon libgpuemu tools workloads cuda
.PHONY: $(TESTABLE:%=test-%)
$(foreach r,$(TESTABLE),$(eval test-$(r): $$(UNIT_$(r)) $$(PTX)))
$(TESTABLE:%=test-%): test-%:
	$(Q)for t in $(UNIT_$*); do echo "# $$t"; timeout 120 $$t || exit 1; done

# --- kernel tests ---------------------------------------------------------------
KTEST_SRC := $(sort $(wildcard tests/kernel/*.c))
KTEST := $(KTEST_SRC:tests/kernel/%.c=$(B)/tests/kernel/%)
KTEST_LIB := $(sort $(wildcard tests/kernel/lib/*.c))
# gcc keeps what the last of several sources includes: the test itself is last.
DEPS += $(KTEST:=.d)
$(B)/kselftest/kselftest_harness.h: scripts/kselftest-headers.sh | $(B)/deps-check.stamp
	$(call say,EXTRACT,$@) scripts/kselftest-headers.sh $(@D)
$(B)/tests/kernel/%: tests/kernel/%.c $(KTEST_LIB) $(B)/kselftest/kselftest_harness.h
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -isystem $(B)/kselftest -Iinclude/uapi -Iinclude -Itests/kernel \
		$(CFLAGS) $(DEPGEN) -MF $@.d -o $@ $(KTEST_LIB) $< -luring -lpthread -lm
# A program of the library and its daemon.
KTEST_KNOBS := tests/kernel/lib/case_clock.c tests/kernel/lib/knob.c tests/kernel/lib/nl.c tests/kernel/lib/pagemap.c
$(B)/tests/kernel/libgpuemu_%: tests/kernel/libgpuemu_%.c $(KTEST_KNOBS) $(B)/lib/libgpuemu.a $(B)/kselftest/kselftest_harness.h
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -isystem $(B)/kselftest -Iinclude -Iinclude/uapi -Itests/kernel \
		$(CFLAGS) $(DEPGEN) -MF $@.d -o $@ $(KTEST_KNOBS) $< $(B)/lib/libgpuemu.a $(ENGINE_LDLIBS)
# The stateful fuzzer: one program of several files.
KFUZZ := $(B)/tests/kernel/fuzz
KFUZZ_SRC := $(sort $(wildcard tests/kernel/fuzz/*.c))
$(KFUZZ): $(KFUZZ_SRC) $(wildcard tests/kernel/fuzz/*.h) $(KTEST_LIB) $(wildcard tests/kernel/lib/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -Iinclude/uapi -Iinclude -Itests/kernel $(CFLAGS) -o $@ $(KFUZZ_SRC) \
		$(KTEST_LIB) -luring -lpthread
# The long run of programs of the library, whose daemon is killed every second.
SOAK := $(B)/tests/kernel/soak
$(SOAK): tests/kernel/soak/soak.c tests/kernel/lib/nl.c $(B)/lib/libgpuemu.a $(wildcard tests/kernel/lib/*.h include/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) $(STD) $(WARN) -Iinclude -Iinclude/uapi -Itests/kernel $(CFLAGS) -o $@ $< \
		tests/kernel/lib/nl.c $(B)/lib/libgpuemu.a $(ENGINE_LDLIBS)
# A 32-bit program, of nothing but the kernel's headers and the compiler's.
ABI32 = $(B)/tests/kernel/abi32/abi32
$(ABI32): tests/kernel/abi32/abi32.c include/uapi/linux/gpuemu.h
	@mkdir -p $(@D)
	$(call say,TEST,$@) $(CC) -m32 $(STD) $(WARN) -O1 -ffreestanding -fno-stack-protector -fno-pic -fcf-protection=none \
		-fomit-frame-pointer -nostdlib -static -no-pie -Wl,--build-id=none -Iinclude/uapi $(ABI_INC) -o $@ $<
ABI_INC = -isystem /usr/include/$(shell $(CC) -print-multiarch)
.PHONY: tests-kernel
tests-kernel: $(KTEST) $(KFUZZ) $(SOAK) $(ABI32)

# --- all checks -----------------------------------------------------------------
.PHONY: check check-quick check-style check-unit check-vm vm-ready
vm-ready: $(B)/deps-build.stamp $(B)/deps-vm.stamp
	@$(MAKE) all tests-kernel tests-cuda policies

check:
	@tests/run.sh
# Does it work here? The programs, the reports, the library and its install, far faults by
# userfaultfd; neither the module nor the unit tests.
check-quick:
	@CHECK_LANES=1 tests/run.sh golden cli ptx uffd install python

check-style:
	@tests/run.sh style layers docs module clean
check-unit:
	@tests/run.sh unit
check-vm:
	@tests/run.sh runner vm

# make mutants [WHAT="WORD..."]: faults planted one at a time in a copy of the tree; a unit test must notice each.
.PHONY: mutants
mutants:
	@tests/mutants/run.sh $(WHAT)

# The reports that tests/check.d/41-golden.sh compares with, as they are now.
.PHONY: golden
golden: programs
	$(Q)tests/golden/run.sh $(B)/golden
	$(Q)rm -rf tests/golden/reports && mkdir tests/golden/reports
	$(Q)find $(B)/golden -maxdepth 1 -type f -exec cp -t tests/golden/reports {} +
	@git diff --stat -- tests/golden/reports | tail -n 12

# One line a kernel; what is fetched stays in $(B)/kernels.
.PHONY: check-kernels
check-kernels: KERNELS ?= 6.1 6.12 7
check-kernels:
	@tests/run.sh $(KERNELS:%=kernel-%)

# The VM suite and the sweep of failed allocations, on a kernel with every check on.
.PHONY: check-debug
check-debug:
	@tests/run.sh kernel-debug

# The VM suite on a kernel that looks for data races.
.PHONY: check-kcsan
check-kcsan:
	@tests/run.sh kernel-kcsan

# make fuzz-kernel [SECONDS=n] [SEED=n] [CLIENTS=n]: the fuzzer of the ABI, in the VM.
.PHONY: fuzz-kernel
fuzz-kernel: SECONDS ?= 3600
fuzz-kernel:
	@$(MAKE) vm-ready >&2
	@tests/vm/run.sh --no-daemon --module-args 'vram_mb=2 enable_tests=1' --timeout $$(($(SECONDS) + 300)) -- \
		fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(CLIENTS),--clients $(CLIENTS))

# make soak [DURATION=s] [SEED=n] [CLIENTS=n]: the daemon killed every second, in the VM.
.PHONY: soak
soak: DURATION ?= 600
soak:
	@$(MAKE) vm-ready >&2
	@tests/vm/run.sh --no-daemon --module-args 'vram_mb=2 invalidate_timeout_ms=4000' --timeout $$(($(DURATION) + 300)) -- \
		soak --seconds $(DURATION) $(if $(SEED),--seed $(SEED)) $(if $(CLIENTS),--clients $(CLIENTS))

-include $(DEPS)
