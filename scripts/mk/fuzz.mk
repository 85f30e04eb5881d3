# SPDX-License-Identifier: GPL-2.0
#
# The fuzzers of PTX texts and of fatbins (tests/fuzz/) and the table of instructions (tests/isa/).
# The rooms behind the parser are compiled again by clang, which brings libFuzzer.

FUZZ := $(B)/fuzz
FUZZ_ROOMS := base ptx exec
FUZZ_SRC := $(foreach r,$(FUZZ_ROOMS),$(call room_src,$(r)))
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(FUZZ)/obj/%.o)
-include $(FUZZ_OBJ:.o=.d) $(FUZZ)/obj/tests/fuzz/fuzz_parser.d
# The lanes are portable C here; what gcc alone understands is left out. clang takes NULL + 0 for
# an overflow, which is how an empty array is walked.
FUZZ_CFLAGS := $(STD) -Idaemon -g -O1 -fno-omit-frame-pointer -ffp-contract=off \
	-Wno-unknown-pragmas -Wno-ignored-optimization-argument \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow \
	-fno-sanitize-recover=all

$(FUZZ)/obj/%.o: %.c | $(B)/deps-check.stamp
	@mkdir -p $(@D)
	$(call say,CC fuzz,$<) $(CLANG) $(FUZZ_CFLAGS) $(DEPGEN) -c -o $@ $<

$(FUZZ)/fuzz_parser: $(FUZZ)/obj/tests/fuzz/fuzz_parser.o $(FUZZ_OBJ)
	$(call say,LD,$@) $(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ -lconfig -lm

# Words of PTX, from the tables that know them.
$(FUZZ)/ptx.dict: tests/fuzz/dict.awk $(wildcard daemon/ptx/*.def)
	@mkdir -p $(@D)
	$(Q)awk -f tests/fuzz/dict.awk $(wildcard daemon/ptx/*.def) >$@

# make fuzz-parser [SECONDS=n] [SEED=n]; what it finds is written to $(FUZZ)/.
.PHONY: fuzz-parser fuzz-parser-build
fuzz-parser-build: $(FUZZ)/fuzz_parser $(FUZZ)/ptx.dict
fuzz-parser: fuzz-parser-build
	$(Q)tests/fuzz/run.sh $(FUZZ) $(or $(SECONDS),600) $(SEED)

# The fuzzer of fatbins: libcudart's reader and its linker of texts.
FUZZ_FATBIN_OBJ := $(addprefix $(FUZZ)/obj/,cuda/cudart/fatbin.o cuda/cudart/link.o cuda/cudart/pieces.o tests/fuzz/fuzz_fatbin.o)
-include $(FUZZ_FATBIN_OBJ:.o=.d)
$(FUZZ_FATBIN_OBJ): FUZZ_CFLAGS += $(CUDART_CPPFLAGS)
$(FUZZ)/fuzz_fatbin: $(FUZZ_FATBIN_OBJ)
	$(call say,LD,$@) $(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ -llz4 -lzstd

# make fuzz-fatbin [SECONDS=n] [SEED=n], as fuzz-parser.
.PHONY: fuzz-fatbin fuzz-fatbin-build
fuzz-fatbin-build: $(FUZZ)/fuzz_fatbin $(FUZZ)/ptx.dict
fuzz-fatbin: fuzz-fatbin-build
	$(Q)FUZZER=fuzz_fatbin tests/fuzz/run.sh $(FUZZ) $(or $(SECONDS),600) $(SEED)

# --- the table of instructions ------------------------------------------------
ISA := $(B)/tests/isa/isa
ISA_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/isa/*.c))
-include $(ISA_OBJ:.o=.d)
$(B)/obj/tests/isa/%.o: tests/isa/%.c | $(B)/deps-build.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(STD) $(WARN) -Idaemon -Itests/isa $(CFLAGS) $(DEPGEN) -c -o $@ $<
$(ISA): $(ISA_OBJ) $(patsubst %,$(B)/lib/rooms/%.a,$(call live_closure,exec))
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -o $@ $(ISA_OBJ) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lconfig -lm

# isa-table: docs/instructions.md anew. isa-legal: what PTX is, which takes NVIDIA's ptxas.
.PHONY: isa isa-table isa-legal
isa: $(ISA)
isa-table: $(ISA)
	$(Q)$(ISA) table tests/isa/legal.txt >$(B)/instructions.md && mv $(B)/instructions.md docs/instructions.md
isa-legal: $(ISA)
	$(Q)tests/isa/legal.sh $(ISA)
