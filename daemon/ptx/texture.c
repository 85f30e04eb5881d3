// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of textures and surfaces: the text of such a statement is replaced by
 * that of instructions which no text has, and parsed then. _texel is a fetch, whole; _texquery
 * reads what a handle means; _surface gives an address, and a plain load or store follows. A handle
 * is a number of 64 bits, the address of a .texref variable too; what it means is said at the
 * launch (base/texture.h). Called by body.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/parser.h"

#define MAX_ITEMS	4
#define MAX_SUFFIXES	8
#define MAX_ITEM	100

struct slice {
	const char *at;
	uint32_t len;
};

struct list {
	struct slice item[MAX_ITEMS];
	uint32_t n;
};

struct reading {
	struct parser *p;
	struct slice guard;		/* "@!%p", or nothing */
	struct slice name;
	struct slice suffix[MAX_SUFFIXES];
	uint32_t nsuffixes, used;
	struct slice handle;
	struct list values, coords;
	char text[2000];
	uint32_t n;
};

static bool is(const struct slice *s, const char *text)
{
	return s->len == strlen(text) && !memcmp(s->at, text, s->len);
}

bool is_texture_insn(const struct token *tok)
{
	return token_is(tok, "tex") || token_is(tok, "tld4") || token_is(tok, "txq") ||
	       token_is(tok, "suld") || token_is(tok, "sust") || token_is(tok, "suq");
}

static void put(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct reading *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	r->n += vsnprintf(r->text + r->n, sizeof(r->text) - r->n, fmt, args);
	va_end(args);
	r->n = MIN(r->n, sizeof(r->text) - 1);
}

/* An instruction with the statement's guard before it. */
#define PUT(r, fmt, ...) put(r, "%.*s " fmt, (r)->guard.len, (r)->guard.at, ##__VA_ARGS__)

/* --- reading ---------------------------------------------------------------------------- */

/* The text up to a comma or a bracket. */
static int read_item(struct reading *r, struct slice *item)
{
	struct parser *p = r->p;

	item->at = p->tok.text;
	if (is_punct(p, ',') || is_punct(p, '}') || is_punct(p, ']') || p->tok.kind == TOK_END)
		return bad(p, "an operand is expected");
	while (!is_punct(p, ',') && !is_punct(p, '}') && !is_punct(p, ']') && !is_punct(p, ';')) {
		if (p->tok.kind == TOK_END || p->tok.text - item->at > MAX_ITEM)
			return bad(p, "an operand is expected");
		item->len = p->tok.text + p->tok.len - item->at;
		next(p);
	}
	return item->len <= MAX_ITEM ? 0 : bad(p, "an operand is expected");
}

/* {a, b}, or a alone. */
static int read_list(struct reading *r, struct list *list)
{
	bool braces = accept(r->p, '{');
	int ret;

	do {
		if (list->n == MAX_ITEMS)
			return bad(r->p, "%u elements at most are expected", MAX_ITEMS);
		ret = read_item(r, &list->item[list->n++]);
	} while (!ret && braces && accept(r->p, ','));
	return ret || !braces ? ret : expect(r->p, '}');
}

/* [handle, {coordinates}] */
static int read_place(struct reading *r, bool has_coords)
{
	struct parser *p = r->p;
	int ret = expect(p, '[');

	if (!ret)
		ret = read_item(r, &r->handle);
	if (!ret && has_coords) {
		ret = expect(p, ',');
		if (!ret && !is_punct(p, '{'))
			return unsupported(p, "textures with a sampler apart");
		if (!ret)
			ret = read_list(r, &r->coords);
	}
	return ret ? ret : expect(p, ']');
}

static int read_head(struct reading *r)
{
	struct parser *p = r->p;

	if (is_punct(p, '@')) {
		r->guard.at = p->tok.text;
		next(p);
		accept(p, '!');
		r->guard.len = p->tok.text + p->tok.len - r->guard.at;
		if (p->tok.kind != TOK_IDENT || r->guard.len > MAX_ITEM)
			return bad(p, "a predicate is expected after '@'");
		next(p);
	} else {
		r->guard.at = "";
	}
	r->name = (struct slice){ p->tok.text, p->tok.len };
	for (next(p); p->tok.kind == TOK_DOT; next(p)) {
		if (r->nsuffixes == MAX_SUFFIXES)
			return bad(p, "one suffix too many");
		r->suffix[r->nsuffixes++] = (struct slice){ p->tok.text, p->tok.len };
	}
	return 0;
}

static bool take(struct reading *r, const char *text)
{
	if (r->used == r->nsuffixes || !is(&r->suffix[r->used], text))
		return false;
	r->used++;
	return true;
}

static int wrong_suffix(struct reading *r)
{
	const struct slice none = { "", 0 };
	const struct slice *s = r->used < r->nsuffixes ? &r->suffix[r->used] : &none;

	if (!s->len)
		return bad(r->p, "the type is missing");
	return unsupported(r->p, "no .%.*s with %.*s", (int)MIN(s->len, 40u), s->at,
			   (int)r->name.len, r->name.at);
}

/* The geometry: how many coordinates, and whether the first is a layer. */
static const struct geometry {
	const char *name;
	uint32_t code, coords, dims;
	bool layered;
} geometries[] = {
	{ "1d", PTX_TEXEL_1D, 1, 1, false }, { "2d", PTX_TEXEL_2D, 2, 2, false },
	{ "3d", PTX_TEXEL_3D, 4, 3, false },
	{ "a1d", PTX_TEXEL_A1D, 2, 1, true }, { "a2d", PTX_TEXEL_A2D, 4, 2, true },
};

static const struct geometry *take_geometry(struct reading *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(geometries); i++) {
		if (take(r, geometries[i].name))
			return &geometries[i];
	}
	return NULL;
}

/* --- writing ------------------------------------------------------------------------------ */

static void put_item(struct reading *r, const struct slice *s)
{
	put(r, "%.*s", s->len, s->at);
}

static int tex(struct reading *r)
{
	bool gather = is(&r->name, "tld4"), level;
	const struct geometry *g;
	const char *of = "";
	struct slice ignored = { "", 0 };
	uint32_t i;
	int ret;

	if (gather)
		of = take(r, "r") ? "0" : take(r, "g") ? "1" : take(r, "b") ? "2" :
		     take(r, "a") ? "3" : "";
	level = !gather && take(r, "level");
	g = take_geometry(r);
	if (!g || (gather && (g->dims != 2 || g->layered || !*of)) || !take(r, "v4") ||
	    !(take(r, "f32") || take(r, "u32") || take(r, "s32")))
		return wrong_suffix(r);
	if (!gather)
		of = take(r, "s32") ? "s" : "f";
	if (*of != 's' && !take(r, "f32"))
		return wrong_suffix(r);
	if (*of == 's' && g->layered)
		return unsupported(r->p, "layers at whole numbers");
	if (r->used != r->nsuffixes)
		return wrong_suffix(r);
	ret = read_list(r, &r->values);
	if (!ret)
		ret = expect(r->p, ',');
	if (!ret)
		ret = read_place(r, true);
	/* One level is all there is. */
	if (!ret && level) {
		ret = expect(r->p, ',');
		if (!ret)
			ret = read_item(r, &ignored);
	}
	if (!ret && (r->values.n != 4 || r->coords.n < g->dims + g->layered ||
		     r->coords.n > g->coords))
		ret = bad(r->p, "the number of operands does not fit the geometry");
	if (ret)
		return ret;
	PUT(r, "_texel.%s {", *of == 's' ? "b32" : "f32");
	for (i = 0; i < 4; i++) {
		put(r, i ? ", " : "");
		put_item(r, &r->values.item[i]);
	}
	put(r, "}, %u, ", gather ? PTX_TEXEL_GATHER | (uint32_t)(*of - '0') << PTX_TEXEL_CHANNEL :
	    g->code);
	put_item(r, &r->handle);
	for (i = 0; i < g->dims + g->layered; i++) {
		put(r, ", ");
		put_item(r, &r->coords.item[i]);
	}
	put(r, ";");
	return 0;
}

/* Only lanes inside access the surface. Lanes outside write nothing and read zeros. */
static void put_zeros(struct reading *r, bool load, uint32_t vec, uint32_t bits)
{
	bool negated = r->guard.len > 1 && r->guard.at[1] == '!';

	if (r->guard.len)
		put(r, "setp.ne.and.u64 __q, __a, 0, %s%.*s;", negated ? "!" : "",
		    r->guard.len - 1 - negated, r->guard.at + 1 + negated);
	else
		put(r, "setp.ne.u64 __q, __a, 0;");
	for (uint32_t i = 0; load && i < vec; i++)
		PUT(r, "mov.b%u %.*s, 0;", MAX(bits, 16u), r->values.item[i].len,
		    r->values.item[i].at);
	put(r, "@__q");
}

static int surface(struct reading *r)
{
	static const char *const modes[] = { "trap", "clamp", "zero" };
	bool load = is(&r->name, "suld");
	const struct geometry *g;
	uint32_t vec, bits, mode, i;
	struct list *first = &r->values;
	int ret;

	if (!take(r, "b"))
		return wrong_suffix(r);
	g = take_geometry(r);
	vec = take(r, "v2") ? 2 : take(r, "v4") ? 4 : 1;
	bits = take(r, "b8") ? 8 : take(r, "b16") ? 16 : take(r, "b32") ? 32 :
	       take(r, "b64") ? 64 : 0;
	for (mode = 0; mode < ARRAY_SIZE(modes) && !take(r, modes[mode]); mode++)
		;
	if (!g || !bits || mode == ARRAY_SIZE(modes) || r->used != r->nsuffixes ||
	    vec * bits > 128)
		return wrong_suffix(r);
	ret = load ? read_list(r, first) : read_place(r, true);
	if (!ret)
		ret = expect(r->p, ',');
	if (!ret)
		ret = load ? read_place(r, true) : read_list(r, first);
	if (!ret && (r->values.n != vec || r->coords.n < g->dims + g->layered ||
		     r->coords.n > g->coords))
		ret = bad(r->p, "the number of operands does not fit the geometry");
	if (ret)
		return ret;
	put(r, "{ .reg .b64 __a; .reg .pred __q;");
	PUT(r, "_surface.b64 __a, %u, ",
	    mode | (uint32_t)__builtin_ctz(vec * bits / 8) << PTX_SURFACE_BYTES);
	put_item(r, &r->handle);
	/* Coordinates are x, y and z; a layer is the last one there is. */
	for (i = 0; i < 3; i++) {
		uint32_t from = g->layered ? i + 1 : i;
		struct slice zero = { "0", 1 };
		const struct slice *c = i < g->dims ? &r->coords.item[from] :
			g->layered && i == 2 ? &r->coords.item[0] : &zero;

		put(r, ", ");
		put_item(r, c);
	}
	put(r, ";");
	if (mode == PTX_SURFACE_ZERO)
		put_zeros(r, load, vec, bits);
	else
		PUT(r, "");
	put(r, " %s.global%s.b%u ", load ? "ld" : "st", vec == 4 ? ".v4" : vec == 2 ? ".v2" : "",
	    bits);
	put(r, "%s", load ? "" : "[__a], ");
	put(r, "%s", vec > 1 ? "{" : "");
	for (i = 0; i < vec; i++)
		put(r, "%s%.*s", i ? ", " : "", r->values.item[i].len, r->values.item[i].at);
	put(r, "%s%s; }", vec > 1 ? "}" : "", load ? ", [__a]" : "");
	return 0;
}

static int query(struct reading *r)
{
	uint32_t at = take(r, "width") ? PTX_TEXEL_1D : take(r, "height") ? PTX_TEXEL_2D :
		take(r, "depth") || take(r, "array_size") ? PTX_TEXEL_3D : 0;
	int ret;

	if (!at || !take(r, "b32") || r->used != r->nsuffixes)
		return wrong_suffix(r);
	ret = read_list(r, &r->values);
	if (!ret)
		ret = expect(r->p, ',');
	if (!ret)
		ret = read_place(r, false);
	if (!ret && r->values.n != 1)
		ret = bad(r->p, "the number of operands does not fit the geometry");
	if (ret)
		return ret;
	PUT(r, "_texquery.b32 ");
	put_item(r, &r->values.item[0]);
	put(r, ", %u, ", at);
	put_item(r, &r->handle);
	put(r, ";");
	return 0;
}

int parse_texture_operands(struct parser *p, struct ptx_insn *insn)
{
	bool fetch = insn->opcode == PTX_OP__texel;
	uint32_t geometry, coords, layered = 0, i;
	uint64_t code = 0;
	unsigned int n;
	int ret;

	ret = fetch ? parse_vector(p, insn, true, PTX_B32, OR_WIDER, &n) :
	      parse_destination(p, new_dst(insn), insn->type, OR_WIDER);
	if (!ret)
		ret = expect(p, ',');
	if (!ret)
		ret = parse_integer(p, &code);
	if (!ret)
		ret = expect(p, ',');
	if (!ret)
		ret = parse_source(p, insn, new_src(insn), PTX_B64, EXACT);
	insn->atom = (uint8_t)code;
	insn->vec = fetch ? 4 : 1;
	geometry = insn->atom & PTX_TEXEL_GEOMETRY;
	coords = insn->opcode == PTX_OP__surface ? 3 : fetch ? 4 : 0;
	if (fetch) {
		insn->space = PTX_SPACE_TEXTURE;
		layered = geometry == PTX_TEXEL_A1D || geometry == PTX_TEXEL_A2D;
	}
	for (i = 0; !ret && i < coords && accept(p, ','); i++)
		ret = parse_source(p, insn, new_src(insn),
				   fetch && i >= layered ? insn->type : PTX_B32, EXACT);
	return ret;
}

int parse_texture_insn(struct parser *p, parse_text_fn *parse)
{
	struct reading *r = calloc(1, sizeof(*r));
	char *text;
	int ret;

	if (!r)
		return no_memory(p);
	r->p = p;
	ret = read_head(r);
	if (!ret)
		ret = is(&r->name, "tex") || is(&r->name, "tld4") ? tex(r) :
		      is(&r->name, "txq") || is(&r->name, "suq") ? query(r) : surface(r);
	if (!ret && !is_punct(p, ';'))
		ret = bad(p, "';' expected");
	text = ret ? NULL : slab_strndup(&p->scratch, r->text, r->n);
	if (!ret && !text)
		ret = no_memory(p);
	if (!ret)
		ret = parse(p, text, r->n, p->stmt_line);
	free(r);
	if (!ret)
		next(p);
	return ret;
}
