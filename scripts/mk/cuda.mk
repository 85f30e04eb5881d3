# SPDX-License-Identifier: GPL-2.0
#
# CUDA programs, unmodified: libcudart on libgpuemu's public calls, in a folder of its own so that a real
# CUDA's library is never in the way. Three sonames are one set of objects; versions.c is built for each.

CUDART_SRC := $(filter-out cuda/cudart/versions.c,$(sort $(wildcard cuda/cudart/*.c)))
CUDART_OBJ := $(CUDART_SRC:%.c=$(B)/obj/%.o)
CUDART_VERSIONS := 11.0 12 13
CUDART_DIR := $(B)/lib/gpuemu
CUDART := $(if $(CUDART_SRC),$(CUDART_VERSIONS:%=$(CUDART_DIR)/libcudart.so.%))
CUDART_CPPFLAGS = -Icuda/cudart -Icuda/include -Iinclude
DEPS += $(CUDART_OBJ:.o=.d) $(CUDART_VERSIONS:%=$(B)/obj/cuda/versions-%.d)

$(B)/obj/cuda/cudart/%.o: cuda/cudart/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) $(CUDART_CPPFLAGS) $(CPPFLAGS) -fPIC -fvisibility=hidden $(CFLAGS) $(DEPGEN) -c -o $@ $<

$(B)/obj/cuda/versions-%.o: cuda/cudart/versions.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC $*,$<) $(CC) $(STD) $(WARN) $(CUDART_CPPFLAGS) -DCUDART_MAJOR=$(basename $*) $(CPPFLAGS) \
		-fPIC -fvisibility=hidden $(CFLAGS) $(DEPGEN) -c -o $@ $<

# Symbols are of a version that is called like the soname, as programs ask for them.
$(B)/obj/cuda/libcudart-%.map: | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	@echo 'libcudart.so.$* { global: cuda*; __cuda*; local: *; };' >$@

$(CUDART_DIR)/libcudart.so.%: $(CUDART_OBJ) $(B)/obj/cuda/versions-%.o $(B)/obj/cuda/libcudart-%.map $(B)/lib/$(LIB_SONAME)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,libcudart.so.$* \
		-Wl,--version-script=$(B)/obj/cuda/libcudart-$*.map -Wl,-z,defs -Wl,--as-needed \
		-Wl,-rpath,'$$ORIGIN/..' -o $@ $(CUDART_OBJ) $(B)/obj/cuda/versions-$*.o \
		$(B)/lib/$(LIB_SONAME) -llz4 -lzstd -lpthread

# gpuemu cc links the version that the headers in cuda/include declare.
$(CUDART_DIR)/libcudart.so: $(CUDART_DIR)/libcudart.so.12
	@ln -sf libcudart.so.12 $@

.PHONY: cuda
cuda: $(CUDART) $(if $(CUDART),$(CUDART_DIR)/libcudart.so)

# What the VM runs of tests/cuda: tests/vm/suite.d/cuda.sh and cuda_device.sh.
CUDA_IN_VM := $(addprefix $(B)/tests/cuda/,paged placed register vecadd memory textures prints deep)
$(B)/tests/cuda/%: tests/cuda/%.cu tests/cuda/check.h $(CUDART) $(CUDART_DIR)/libcudart.so $(B)/bin/gpuemu $(wildcard cuda/include/*.h cuda/include/gpuemu/*)
	@mkdir -p $(@D)
	$(call say,CUDA,$@) $(B)/bin/gpuemu cc $< -o $@

.PHONY: tests-cuda
tests-cuda: $(CUDA_IN_VM)
