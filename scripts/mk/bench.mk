# SPDX-License-Identifier: GPL-2.0
#
# make bench-exec: how fast kernels execute without time, against the same source
# compiled for the CPU. CLANG compiles both with -O2; neither may contract, so
# that results are the same bytes. BENCH_CPU_FLAGS=-march=native gives the CPU all it has.

BENCH_EXEC := $(B)/bench-exec
BENCH_CPU_FLAGS ?=
BENCH_RUNS ?= 9

$(BENCH_EXEC)/kernels.ptx: tests/bench-exec/kernels.cu | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,PTX,$@) $(CLANG) -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
		--cuda-gpu-arch=sm_70 -O2 -ffp-contract=off -Wno-unknown-cuda-version -S -o $@ $<
# The flags may change from one run to the next.
$(BENCH_EXEC)/cpu.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(BENCH_CPU_FLAGS)' | cmp -s - $@ || echo '$(BENCH_CPU_FLAGS)' >$@
$(BENCH_EXEC)/kernels.o: tests/bench-exec/kernels.cu $(BENCH_EXEC)/cpu.flags
	$(call say,CLANG,$@) $(CLANG) -x c++ -O2 -ffp-contract=off -fno-math-errno $(BENCH_CPU_FLAGS) -c -o $@ $<
$(BENCH_EXEC)/bench: tests/bench-exec/bench.c tests/bench-exec/kernels.def $(BENCH_EXEC)/kernels.o \
		$(patsubst %,$(B)/lib/rooms/%.a,$(call live_closure,exec))
	$(call say,LD,$@) $(CC) $(STD) $(WARN) -Idaemon -Itests/bench-exec $(CFLAGS) -o $@ $< $(filter %.o %.a,$^) -lm

.PHONY: bench-exec
bench-exec: $(BENCH_EXEC)/bench $(BENCH_EXEC)/kernels.ptx
	$(Q)$(BENCH_EXEC)/bench $(BENCH_EXEC)/kernels.ptx -r $(BENCH_RUNS)

# make bench-paging: what the fault handler itself costs a page, with a service that does nothing;
# and what paging costs whole runs.
BENCH_PAGING := $(B)/bench-paging/bench
$(BENCH_PAGING): tests/bench-paging/bench.c $(patsubst %,$(B)/lib/rooms/%.a,$(call live_closure,paging)) | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(STD) $(WARN) -Idaemon -Iinclude $(CFLAGS) -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ENGINE_LDLIBS)

.PHONY: bench-paging
bench-paging: $(BENCH_PAGING) programs $(B)/deps-check.stamp
	$(Q)$(BENCH_PAGING)
	$(Q)for w in sgemm spmv bfs xsbench triad; do tests/bench-paging/whole.sh share $$w size=tiny || exit 1; done
	$(Q)tests/bench-paging/whole.sh triad
