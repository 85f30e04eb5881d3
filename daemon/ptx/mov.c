// SPDX-License-Identifier: GPL-2.0
/*
 * mov: one value, a vector packed into one register and the other way round, a whole
 * vector (PTX ISA, "mov" and "Vectors as Operands"). Called by form.c and insn.c.
 */
#include <errno.h>
#include <string.h>

#include "ptx/parser.h"

#define MAX_VECTOR	16	/* bytes */

static enum ptx_type bits_of(unsigned int bytes)
{
	return bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : bytes == 2 ? PTX_B16 : PTX_B8;
}

/* How many elements the { } at the current token has; more than four is five. */
static unsigned int count_elements(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token tok;
	unsigned int n = 1;

	do {
		lex_next(&ahead, &tok);
		if (tok.kind == TOK_PUNCT && tok.punct == ',')
			n++;
	} while (n < 5 && tok.kind != TOK_END &&
		 !(tok.kind == TOK_PUNCT && (tok.punct == '}' || tok.punct == ';')));
	return n;
}

/* The elements of the { } or of the vector register at the current token; 0: neither is there. */
static unsigned int vector_elements(struct parser *p, int *ret)
{
	struct symbol *vector;

	if (is_punct(p, '{'))
		return count_elements(p);
	vector = vector_here(p, ret);
	return vector ? vector->vec : 0;
}

/* A vector of elements that together are as wide as the type. */
static int parse_packed(struct parser *p, struct ptx_insn *insn, bool is_dst, unsigned int n)
{
	unsigned int bytes = ptx_type_bytes(insn->type);

	if ((n != 2 && n != 4) || !(bytes / n))
		return bad(p, "vectors of mov have 2 or 4 elements of 8 bits or more");
	insn->vec = n;
	return parse_vector(p, insn, is_dst, bits_of(bytes / n), EXACT, &n);
}

/* mov.v4 d, a: each side is a vector register or in { }. */
static int parse_whole(struct parser *p, struct ptx_insn *insn)
{
	unsigned int n, i;
	bool found;
	int ret;

	if (!insn->type || insn->type == PTX_PRED)
		return bad(p, "there are no vectors of predicates");
	if (ptx_type_bytes(insn->type) * insn->vec > MAX_VECTOR)
		return bad(p, "a vector has %u bytes at most", MAX_VECTOR);
	ret = parse_vector(p, insn, true, insn->type, EXACT, &n);
	if (!ret && n != insn->vec)
		ret = bad(p, "%u elements are expected", insn->vec);
	if (!ret)
		ret = expect(p, ',');
	if (!ret)
		ret = parse_sreg_vector(p, insn, &found);
	if (ret || found)
		return ret;
	/* NVIDIA's assembler takes one value too, and the ISA does not say what for. */
	n = vector_elements(p, &ret);
	if (!ret && !n)
		ret = unsupported(p, "one value where a vector is expected");
	if (!ret)
		ret = parse_vector(p, insn, false, insn->type, EXACT, &n);
	if (!ret && n != insn->vec)
		ret = bad(p, "%u elements are expected", insn->vec);
	for (i = 0; !ret && i < insn->nsrc; i++) {
		if (insn->src[i].kind == PTX_OPND_SYMBOL)
			ret = bad(p, "an address is no element of a vector");
	}
	return ret;
}

int parse_mov(struct parser *p, struct ptx_insn *insn)
{
	unsigned int n, packed;
	int ret = 0;

	if (insn->vec > 1)
		return parse_whole(p, insn);
	n = vector_elements(p, &ret);
	if (ret)
		return ret;
	ret = n ? parse_packed(p, insn, true, n) :
		parse_destination(p, new_dst(insn), insn->type, EXACT);
	if (!ret)
		ret = expect(p, ',');
	packed = ret ? 0 : vector_elements(p, &ret);
	if (ret)
		return ret;
	if (packed && !n)
		return parse_packed(p, insn, false, packed);
	return parse_source(p, insn, new_src(insn), insn->type, EXACT);
}

/* Whether a result before number i is what source i reads: all are read before any is written. */
static bool is_overwritten(const struct ptx_insn *insn, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < i; j++) {
		if (insn->src[i].kind == PTX_OPND_REG && insn->dst[j].kind == PTX_OPND_REG &&
		    insn->dst[j].reg == insn->src[i].reg)
			return true;
	}
	return false;
}

static int add_mov(struct parser *p, const struct ptx_insn *like, const struct ptx_operand *dst,
		   const struct ptx_operand *src)
{
	struct ptx_insn *insn;
	int ret = new_insn(p, &insn);

	if (ret)
		return ret;
	*insn = *like;
	insn->vec = insn->ndst = insn->nsrc = 1;
	memset(insn->dst, 0, sizeof(insn->dst));
	memset(insn->src, 0, sizeof(insn->src));
	insn->dst[0] = *dst;
	insn->src[0] = *src;
	return 0;
}

int split_mov(struct parser *p, struct ptx_insn *insn)
{
	struct ptx_insn whole = *insn;
	uint32_t i;
	int ret = 0;

	/* It was the function's last, and gives its place to the first of the others. */
	p->kernel->ninsns--;
	p->total_insns--;
	for (i = 0; !ret && i < whole.nsrc; i++) {
		struct ptx_operand saved = { .kind = PTX_OPND_REG };
		struct ptx_insn unguarded = whole;

		if (!is_overwritten(&whole, i))
			continue;
		saved.reg = new_register(p, p->kernel, &p->regs_cap,
					 p->kernel->regs[whole.src[i].reg].name, whole.type, &ret);
		unguarded.guard = PTX_NO_REG;
		if (!ret)
			ret = add_mov(p, &unguarded, &saved, &whole.src[i]);
		whole.src[i] = saved;
	}
	for (i = 0; !ret && i < whole.nsrc; i++) {
		/* _ takes nothing. */
		if (whole.dst[i].kind)
			ret = add_mov(p, &whole, &whole.dst[i], &whole.src[i]);
	}
	return ret;
}
