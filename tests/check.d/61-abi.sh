# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The ABI has one layout, for 32-bit and 64-bit programs, without holes.
. tests/lib/tap.sh
out=build/check/abi
mkdir -p $out
include="-Iinclude/uapi -isystem /usr/include/$(gcc -print-multiarch)"
for bits in 32 64; do
	# shellcheck disable=SC2086
	tap_check "layout, $bits bits" gcc -m$bits -std=gnu11 -Wall -Wextra -Wpadded -Werror -ffreestanding \
		$include -c -o $out/layout$bits.o tests/kernel/abi32/layout.c
	objcopy -O binary -j .rodata $out/layout$bits.o $out/sizes$bits 2>/dev/null
done
tap_check 'both have structs of the same sizes' sh -c "test -s $out/sizes32 && cmp $out/sizes32 $out/sizes64"

# The check must be able to fail: a struct whose layout differs, and one with a hole.
broken() { # NAME SCRIPT
	mkdir -p "$out/broken/linux"
	sed "$2" include/uapi/linux/gpuemu.h >"$out/broken/linux/gpuemu.h"
	if ! cmp -s include/uapi/linux/gpuemu.h "$out/broken/linux/gpuemu.h" &&
		! gcc -m32 -std=gnu11 -Wpadded -Werror -ffreestanding "-I$out/broken" -isystem \
			"/usr/include/$(gcc -print-multiarch)" -c -o $out/broken.o tests/kernel/abi32/layout.c 2>$out/broken.log; then
		tap_ok "refused: $1"
	else
		tap_not_ok "refused: $1" "it compiles"
	fi
}
broken 'a pointer where 64 bits have to be' 's/__aligned_u64 image;.*user pointer.*/void *image;/'
broken 'a hole' 's/__u32 stream;$/__u8 stream;/'
broken 'a field in the middle' 's/^\t__u32 generation;.*/\t__u32 more; __u32 more2;\n&/'
tap_done
