# SPDX-License-Identifier: GPL-2.0
#
# The words that a man page marks as names: bold or italic, by a macro or a font, and the
# tags of lists and subsections. A word of plain text documents nothing. For check-docs.sh.
function put(s)
{
	gsub(/\\-/, "-", s)
	gsub(/\\f[BIRP]/, " ", s)
	print s
}

/^\.T[PQ]/ { tag = 1; next }
/^\.([BI]|[BIR][BIR]|SS) / { sub(/^\.[A-Z]+ /, ""); put($0); tag = 0; next }
/^\./ { next }
tag { put($0); tag = 0; next }
{
	for (s = $0; match(s, /\\f[BI]/); s = substr(s, end)) {
		s = substr(s, RSTART + RLENGTH)
		end = match(s, /\\f./) ? RSTART : length(s) + 1
		put(substr(s, 1, end - 1))
	}
}
