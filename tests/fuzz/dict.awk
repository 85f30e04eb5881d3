# SPDX-License-Identifier: GPL-2.0
#
# A libFuzzer dictionary: the instructions, modifiers and types of daemon/ptx's
# tables, then what has no table.
function word(text) {
	if (!(text in seen)) {
		seen[text] = 1
		print "\"" text "\""
	}
}
/^X\(/ { sub(/^X\(/, ""); sub(/,.*/, ""); word($0 " ") }
/^M\(/ { sub(/^M\("/, ""); sub(/".*/, ""); word("." $0) }
END {
	n = split(".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 " \
		".bf16x2 .f32 .f64 .pred .reg .param .entry .func .visible .extern .weak .version .target " \
		".address_size .align .ptr .maxntid .reqntid .maxnreg .minnctapersm .noreturn .pragma " \
		".branchtargets .callprototype .calltargets .section .loc .file .alias .common " \
		"%tid.x %ctaid.y %laneid %clock64 %r1 %rd1 %f1 %fd1 %p1 @%p1 @!%p1 WARP_SZ vprintf " \
		"__assertfail generic( 0f3F800000 0dBFF0000000000000 0x7fffffff 4294967295 -1 [%rd1+4] " \
		"%r<9>; {%r1,%r2} ret; _", words, " ")
	for (i = 1; i <= n; i++)
		word(words[i])
	word("(.param .b32 a)")
	word("call (")
}
