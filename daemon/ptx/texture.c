// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of textures and surfaces, which become calls of the functions of
 * device/texture.cu: the text of such a statement is replaced by that of the call, and parsed
 * then. A texture's handle is the address of its descriptor in global memory, and so is
 * the address of a .texref variable, which is its descriptor. Called by body.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

/* Of the descriptor: what txq and suq ask for. */
#define AT_WIDTH	16
#define AT_HEIGHT	20
#define AT_DEPTH	24

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
	uint32_t coords, dims;
	bool layered;
} geometries[] = {
	{ "1d", 1, 1, false }, { "2d", 2, 2, false }, { "3d", 4, 3, false },
	{ "a1d", 2, 1, true }, { "a2d", 4, 2, true },
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

static void put_handle(struct reading *r)
{
	put(r, "{ .reg .b64 __h; ");
	PUT(r, "mov.b64 __h, %.*s;", r->handle.len, r->handle.at);
}

static int tex(struct reading *r)
{
	bool gather = is(&r->name, "tld4"), level;
	const struct geometry *g;
	const char *of = "";
	struct slice ignored = { "", 0 };
	uint32_t n, i;
	int ret;

	if (gather)
		of = take(r, "r") ? "0" : take(r, "g") ? "1" : take(r, "b") ? "2" :
		     take(r, "a") ? "3" : "";
	level = !gather && take(r, "level");
	g = take_geometry(r);
	if (!g || (gather && (g->dims != 2 || g->layered || !*of)) || !take(r, "v4") ||
	    !(take(r, "f32") || take(r, "u32") || take(r, "s32")))
		return wrong_suffix(r);
	of = gather ? of : take(r, "s32") ? "s" : "f";
	if ((gather || *of == 'f') && !take(r, "f32"))
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
	put_handle(r);
	n = g->dims + g->layered;
	put(r, " .param .b64 __p; .param .align 16 .b8 __v[16];");
	for (i = 0; i < n; i++)
		put(r, " .param .b32 __c%u;", i);
	PUT(r, "st.param.b64 [__p], __h;");
	for (i = 0; i < n; i++)
		PUT(r, "st.param.%s [__c%u], %.*s;", *of != 's' && !(g->layered && !i) ? "f32" : "b32",
		    i, r->coords.item[i].len, r->coords.item[i].at);
	if (gather)
		PUT(r, "call (__v), __gpuemu_tld4, (__p");
	else
		PUT(r, "call (__v), __gpuemu_tex_%s_%s, (__p", g->name, of);
	for (i = 0; i < n; i++)
		put(r, ", __c%u", i);
	put(r, gather ? ", %s);" : ");", of);
	PUT(r, "ld.param.v4.b32 {%.*s, %.*s, %.*s, %.*s}, [__v]; }", r->values.item[0].len,
	    r->values.item[0].at, r->values.item[1].len, r->values.item[1].at,
	    r->values.item[2].len, r->values.item[2].at, r->values.item[3].len,
	    r->values.item[3].at);
	return 0;
}

static int surface(struct reading *r)
{
	static const char *const modes[] = { "trap", "clamp", "zero" };
	bool load = is(&r->name, "suld"), negated;
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
	put_handle(r);
	put(r, " .reg .b64 __a; .reg .pred __q; .param .b64 __p; .param .b64 __r;"
	    " .param .b32 __c0; .param .b32 __c1; .param .b32 __c2;");
	PUT(r, "st.param.b64 [__p], __h;");
	/* Coordinates are x, y and z; a layer is the last one there is. */
	for (i = 0; i < 3; i++) {
		uint32_t from = g->layered ? i + 1 : i;
		struct slice zero = { "0", 1 };
		const struct slice *c = i < g->dims ? &r->coords.item[from] :
			g->layered && i == 2 ? &r->coords.item[0] : &zero;

		PUT(r, "st.param.b32 [__c%u], %.*s;", i, c->len, c->at);
	}
	PUT(r, "call (__r), __gpuemu_surface, (__p, __c0, __c1, __c2, %u, %u);", vec * bits / 8, mode);
	PUT(r, "ld.param.b64 __a, [__r];");
	negated = r->guard.len > 1 && r->guard.at[1] == '!';
	if (r->guard.len)
		put(r, "setp.ne.and.u64 __q, __a, 0, %s%.*s;", negated ? "!" : "",
		    r->guard.len - 1 - negated, r->guard.at + 1 + negated);
	else
		put(r, "setp.ne.u64 __q, __a, 0;");
	for (i = 0; load && i < vec; i++)
		PUT(r, "mov.b%u %.*s, 0;", MAX(bits, 16u), r->values.item[i].len,
		    r->values.item[i].at);
	put(r, "@__q %s.global%s.b%u ", load ? "ld" : "st", vec == 4 ? ".v4" : vec == 2 ? ".v2" : "",
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
	uint32_t at = take(r, "width") ? AT_WIDTH : take(r, "height") ? AT_HEIGHT :
		take(r, "depth") || take(r, "array_size") ? AT_DEPTH : 0;
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
	put_handle(r);
	PUT(r, "ld.global.b32 %.*s, [__h+%u]; }", r->values.item[0].len, r->values.item[0].at, at);
	return 0;
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
