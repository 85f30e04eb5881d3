# SPDX-License-Identifier: GPL-2.0
#
# tests/silicon/: what a real GPU computes where PTX is silent or loose, and the program that takes it,
# from a GPU by its driver or from the emulated one by a library of the same name.

SILICON := $(B)/silicon
SILICON_OBJ := $(patsubst %,$(B)/obj/tests/silicon/%.o,facts table driver calls)
-include $(SILICON_OBJ:.o=.d) $(B)/obj/tests/silicon/workloads.d $(SILICON)/libcuda.d
$(B)/obj/tests/silicon/%.o: tests/silicon/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) -Idaemon -Iinclude -Itests -Itests/unit -Iworkloads $(CFLAGS) $(DEPGEN) -c -o $@ $<
$(SILICON)/facts: $(SILICON_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -o $@ $(SILICON_OBJ) -ldl -lm
$(SILICON)/workloads: $(B)/obj/tests/silicon/workloads.o $(B)/obj/tests/silicon/driver.o $(B)/obj/tests/silicon/calls.o \
	$(filter $(B)/obj/workloads/%,$(TOOL_OBJ)) $(TOOL_PTX_OBJ) $(ROOM_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -o $@ $(filter %.o,$^) -Wl,--start-group $(ROOM_LIBS) -Wl,--end-group $(ENGINE_LDLIBS) -ldl
$(SILICON)/libcuda.so.1: tests/silicon/libcuda.c $(B)/lib/$(LIB_SONAME)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(STD) $(WARN) -Iinclude $(CFLAGS) $(DEPGEN) -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $< \
		-L$(B)/lib -l:$(LIB_SONAME) -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: silicon
silicon: $(SILICON)/facts $(SILICON)/workloads $(SILICON)/libcuda.so.1 $(DIFF_RUNNER)
