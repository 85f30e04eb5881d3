# SPDX-License-Identifier: GPL-2.0
#
# Reads the rows of several checks, as tests/run.sh keeps them, and prints a line for each failed
# case: the check, the case, and the beginning of its notes. What a test expected and where a task
# hangs come first.
# All lines together have some 1,500 characters, because a log may be seen only by its end.
# awk -f failed.awk FILE.rows... Called by tests/run.sh.

BEGIN { FS = "\t"; room = 1500; least = 100; most = 700 }

FNR == 1 {
	check = FILENAME
	sub(/.*\//, "", check)
	sub(/\.tap\.rows$/, "", check)
	open = 0
}

$1 == "fail" {
	n++
	open = 1
	text[n] = check ": " $2 ($3 != "" ? " (" $3 ")" : "")
	next
}

$1 == "diag" && open {
	if ($2 ~ /[Ee]xpected|no end|did not|kernel: |stood still|waited for ours|exit status|[Tt]imed out|terminated|^at |gpuemu_/)
		first[n] = first[n] " | " $2
	else
		then[n] = then[n] " | " $2
	next
}

{ open = 0 }

END {
	width = int(room / (n + 1))
	width = width < least ? least : width > most ? most : width
	for (i = 1; i <= n && i * width <= room; i++)
		print "failed - " substr(text[i] first[i] then[i], 1, width - 10)
	if (i <= n)
		print "failed - and " n - i + 1 " more"
}
