// SPDX-License-Identifier: GPL-2.0
/* {a, b}: operands in braces, or a vector register by its name. Called by form.c and mov.c. */
#include "ptx/parser.h"

int parse_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
		 enum width width, unsigned int *n)
{
	bool braces = accept(p, '{');
	int ret;

	*n = 0;
	if (!braces) {
		ret = parse_whole_vector(p, insn, is_dst, type, width, n);
		if (ret || *n)
			return ret;
	}
	do {
		if (*n == 4)
			return bad(p, "a vector has four elements at most");
		if (is_dst)
			ret = parse_destination(p, new_dst(insn), type, width);
		else
			ret = parse_source(p, insn, new_src(insn), type, width);
		if (ret)
			return ret;
		++*n;
	} while (braces && accept(p, ','));
	return braces ? expect(p, '}') : 0;
}
