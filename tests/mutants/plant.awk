# SPDX-License-Identifier: GPL-2.0
#
# awk -v list=FILE -v n=N -f plant.awk SOURCE: the source with the list's n-th fault in it. Exits 3,
# with a sentence, unless the fault's lines are there exactly once. Space at both ends of a
# line does not count, so code may move and be indented anew.

function bare(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

BEGIN {
	while ((getline line <list) > 0) {
		if (line ~ /^@ /)
			at++
		else if (at == n && line ~ /^-/)
			old[++nold] = bare(substr(line, 2))
		else if (at == n && line ~ /^\+/)
			new[++nnew] = substr(line, 2)
	}
}

{ text[NR] = $0 }

END {
	for (i = 1; i + nold - 1 <= NR; i++) {
		for (k = 1; k <= nold && bare(text[i + k - 1]) == old[k]; k++)
			;
		if (k > nold) {
			found++
			where = i
		}
	}
	if (!nold || found != 1) {
		printf "the text to change is there %d times, not once: %s\n", found, old[1] >"/dev/stderr"
		exit 3
	}
	for (i = 1; i <= NR; i++) {
		if (i == where)
			for (k = 1; k <= nnew; k++)
				print new[k]
		if (i < where || i >= where + nold)
			print text[i]
	}
}
