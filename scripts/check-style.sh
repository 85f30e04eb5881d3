#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The checks a compiler does not make. check-style.sh WHAT prints a line for
# each offender and exits 1 if there is one. WHAT:
#   spdx     first line (or second, after #!) names the licence
#   length   no file over 900 lines but those of scripts/long-files.txt
#   columns  no C line over 100 columns, tabs counted as 8; a line with a string and
#            a comment at the end are exempt, as for checkpatch; no trailing space
#   shell    shellcheck
#   man      groff's warnings on the man pages
set -eu
cd "$(dirname "$0")/.."
for tool in git groff shellcheck; do
	command -v $tool >/dev/null || { echo "check-style: no $tool; scripts/deps.sh check installs it"; exit 1; }
done
all() { git ls-files -co --exclude-standard | sort | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }

spdx() {
	all | while read -r f; do
		want='SPDX-License-Identifier: '
		case $f in
		include/uapi/*.h) want='^/\* SPDX-License-Identifier: .*GPL-2.0.* WITH Linux-syscall-note' ;;
		*.c) want='^// SPDX-License-Identifier: ' ;;
		*.h) want='^/\* SPDX-License-Identifier: ' ;;
		*.S | *.sh | *.mk | *.awk | *.def | *.map | *.in | *.cfg | *.conf | *.txt | *.[1-8] | *Makefile | *Kbuild) ;;
		.ci/run | .clang-format | .editorconfig) ;;
		*) continue ;;
		esac
		head -n 2 "$f" | grep -q -e "$want" || echo "$f: no SPDX line"
	done
}

length() {
	all | grep -E '\.(c|h|sh|mk|awk)$|^Makefile$' | while read -r f; do
		n=$(wc -l <"$f")
		[ "$n" -le 900 ] || grep -qx "$f" scripts/long-files.txt || echo "$f: $n lines (900 is the limit)"
	done
}

# A report, not a rule: what is longer than a file should be.
longer() {
	all | grep -E '\.[ch]$' | xargs -r wc -l | awk '$2 != "total" && $1 > 400 { print $2 ": " $1 " lines" }'
}

columns() {
	all | grep -E '\.[ch]$' | while read -r f; do
		expand "$f" | awk -v f="$f" '/[ \t]$/ { print f ":" NR ": trailing space" }
			{ sub(/ *\/\*[^\/]*\*\/$/, "") }
			length > 100 && !/"/ { print f ":" NR ": " length " columns" }'
	done
}

shell() {
	all | grep -E '\.sh$|^\.ci/run$' | grep -vE '^tests/vm/(fixtures|suite.d)/' | xargs -r shellcheck -x -S warning -f gcc
	# These are the VM's: its shell is busybox', which dash is nearest to.
	all | grep -E '^tests/vm/(fixtures|suite.d)/.*\.sh$' | xargs -r shellcheck -s dash -S warning -f gcc
}

man() {
	all | grep -E '^man/.*\.[1-8]$' | while read -r f; do
		groff -man -ww -z -Tutf8 "$f" 2>&1 | sed "s|^|$f: |"
	done
}

case ${1:-} in
spdx | length | columns | man) out=$("$1") ;;
shell) out=$(shell) || : ;;
longer) longer; exit ;;
*) echo 'usage: check-style.sh spdx|length|columns|shell|man|longer' >&2; exit 2 ;;
esac
[ -z "$out" ] || { printf '%s\n' "$out"; exit 1; }
