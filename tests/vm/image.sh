#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the VM's initramfs, OUT, when it is older than what goes into it:
# busybox, the source tree and the built programs, each at its own path, the
# libraries they need, the module and init.sh.
# Called by tests/vm/run.sh: image.sh OUT MODULE [PATH...].
set -euo pipefail
out=$1 module=$2
shift 2
tree=$PWD
list=$(mktemp)
trap 'rm -f "$list"' EXIT

for p in standstill gusts; do
	[ ! build/vm/$p -nt tests/vm/$p.c ] || continue
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o build/vm/$p.tmp tests/vm/$p.c -lpthread
	mv build/vm/$p.tmp build/vm/$p
done

# The source tree itself is in there too (not build/): a command may name any
# file of it. What is large is data of somebody's own.
{
	find build/vm/standstill build/vm/gusts build/bin build/tests/kernel build/tests/cuda build/tests/policy build/examples build/ptx -type f ! -name '*.d' 2>/dev/null || :
	find . -path ./build -prune -o -path ./.git -prune -o -type f -size -1024k -print | sed 's|^\./||'
	echo /usr/bin/setpriv
	[ $# -eq 0 ] || find "$@" -type f
} | sort -u >"$list"

if [ "$out" -nt tests/vm/init.sh ] && [ "$out" -nt tests/vm/image.sh ] &&
	{ [ ! -e "$module" ] || [ "$out" -nt "$module" ]; } &&
	{ echo "$module"; cat "$list"; } | cmp -s - "$out.list"; then
	stale=
	while read -r f; do
		[ "$out" -nt "$f" ] || stale=1
	done <"$list"
	[ -n "$stale" ] || exit 0
fi

root=$out.root
rm -rf "$root"
mkdir -p "$root"/{bin,sbin,usr/bin,etc,root,vm/jobs,dev,proc,sys,tmp,lib,lib64} "$root$tree"
cp /bin/busybox "$root/bin/"
busybox --list | while read -r name; do
	[ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
done
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
rm "$root/bin/setpriv" # busybox' own cannot change the user; its shell prefers it, so call it by path
cp tests/vm/init.sh "$root/init"
chmod 755 "$root/init"
echo "$tree" >"$root/vm/tree"
name=${module##*/}
echo "${name%.ko}" >"$root/vm/module"
# Where KCOV sees who comes by: calls of the compiler's hook, but not where code runs once.
[ ! -e "$module" ] || readelf -rW "$module" |
	awk -F "'" '/^Relocation section/ { text = $2 ~ /^\.rela\.text(\.unlikely)?$/ }
		text && /__sanitizer_cov_trace_pc / { n++ } END { print n + 0 }' >"$root/vm/places"
[ ! -e "$module" ] || { cp "$module" "$root/vm/" && strip -g "$root/vm/$name"; }

grep -v '^/' "$list" | cpio -pdmL --quiet "$tree/$root$tree"
sed -n 's|^/||p' "$list" | (cd / && cpio -pdmL --quiet "$tree/$root")

# Debug sections are most of a program and of no use in there.
while read -r f; do
	case $f in build/* | /*) ;; *) continue ;; esac
	[ "$(head -c 4 "$f" | tr -d '\0')" = $'\177ELF' ] || continue
	case $f in /*) strip -g "$root$f" ;; *) strip -g "$root$tree/$f" ;; esac 2>/dev/null || :
	echo "$f"
done <"$list" >"$list.elf"
{ xargs -r ldd <"$list.elf" 2>/dev/null || :; } |
	sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*ld-[^ ]*\) .*/\1/p' | sort -u |
	while read -r lib; do
		mkdir -p "$root${lib%/*}"
		cp -L "$lib" "$root$lib"
	done
rm -f "$list.elf"

(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$out.tmp"
rm -rf "$root"
{ echo "$module"; cat "$list"; } >"$out.list"
mv "$out.tmp" "$out"
