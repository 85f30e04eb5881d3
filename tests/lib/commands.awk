# SPDX-License-Identifier: GPL-2.0
#
# The commands `gpuemu run ...` of a --dry-run, each with its words in one order, an option together
# with its value: two that run the same are the same line.
/^gpuemu run / {
	n = 0
	for (i = 3; i <= NF; i++) {
		word = $i
		if (word ~ /^--[a-z-]+$/ && i < NF && $(i + 1) !~ /^--/)
			word = word " " $(++i)
		for (k = n++; k > 0 && words[k] > word; k--)
			words[k + 1] = words[k]
		words[k + 1] = word
	}
	line = $3
	for (k = 1; k <= n; k++)
		line = line " " words[k]
	print line
}
