// SPDX-License-Identifier: GPL-2.0
/*
 * The compiler's result for people and programs. Reads struct ptx_kernel; of the
 * PTX text only the lines that instructions came from.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "output.h"

static void add(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static const char *type_name(unsigned int type)
{
	static const char *const names[PTX_TYPES] = {
		[PTX_B8] = "b8", [PTX_B16] = "b16", [PTX_B32] = "b32", [PTX_B64] = "b64",
		[PTX_U8] = "u8", [PTX_U16] = "u16", [PTX_U32] = "u32", [PTX_U64] = "u64",
		[PTX_S8] = "s8", [PTX_S16] = "s16", [PTX_S32] = "s32", [PTX_S64] = "s64",
		[PTX_F16] = "f16", [PTX_F16X2] = "f16x2", [PTX_BF16] = "bf16",
		[PTX_BF16X2] = "bf16x2", [PTX_F32] = "f32", [PTX_F64] = "f64",
		[PTX_PRED] = "pred",
	};

	return type < PTX_TYPES && names[type] ? names[type] : "";
}

static struct json_object *params_json(const struct ptx_kernel *k)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < k->nparams; i++) {
		const struct ptx_param *p = &k->params[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "type", json_object_new_string(type_name(p->type)));
		add(o, "bytes", p->bytes);
		add(o, "align", p->align);
		add(o, "offset", p->offset);
		json_object_array_add(a, o);
	}
	return a;
}

/* The functions that are linked in; the first one is the entry itself. */
static struct json_object *functions_json(const struct ptx_kernel *k)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 1; i < k->nfunctions; i++) {
		const struct ptx_function *f = &k->functions[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "name", json_object_new_string(f->name));
		add(o, "line", f->line);
		add(o, "instructions", f->end - f->first);
		add(o, "frame_bytes", f->frame_bytes);
		json_object_object_add(o, "recursive", json_object_new_boolean(f->recursive));
		json_object_array_add(a, o);
	}
	return a;
}

/* --- the listing ------------------------------------------------------------------ */

/* Where each line of the text starts; [0] is line 1, [n] is the end. */
struct lines {
	const char **at;
	uint32_t count;
};

static bool lines_of(struct lines *lines, const char *text)
{
	uint32_t n = 1;

	for (const char *s = text; (s = strchr(s, '\n')); s++)
		n++;
	lines->at = malloc((n + 1) * sizeof(*lines->at));
	if (!lines->at)
		return false;
	lines->count = n;
	lines->at[0] = text;
	for (uint32_t i = 1; i < n; i++)
		lines->at[i] = strchr(lines->at[i - 1], '\n') + 1;
	lines->at[n] = lines->at[n - 1] + strlen(lines->at[n - 1]) + 1;
	return true;
}

/* Past "@%p1 " and "@!%p1 ". */
static const char *past_guard(const char *s)
{
	if (*s == '@')
		s += strcspn(s, " \t\n");
	return s + strspn(s, " \t");
}

/*
 * The instruction's statement with blanks for tabs. An instruction that the register
 * allocation added has the line of the instruction that needed it, and only its own opcode
 * tells it apart.
 */
static struct json_object *statement(const struct ptx_insn *insn, const struct lines *lines)
{
	const char *opcode = ptx_opcode_name(insn->opcode), *from, *to, *at;
	size_t length = strlen(opcode);
	struct json_object *text;
	char *copy;

	if (!insn->line || insn->line > lines->count)
		return json_object_new_string(opcode);
	from = lines->at[insn->line - 1];
	to = lines->at[insn->line] - 1;
	from += strspn(from, " \t");
	while (to > from && strchr(" \t\r", to[-1]))
		to--;
	at = past_guard(from);
	/*
	 * Only where a line has several statements, or a macro's braces, does the statement
	 * not begin here.
	 */
	if (at >= to || strncmp(at, opcode, length) || !strchr(".; \t\r\n", at[length]))
		return json_object_new_string(opcode);
	copy = strndup(from, (size_t)(to - from));
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if (*c == '\t')
			*c = ' ';
	text = json_object_new_string(copy);
	free(copy);
	return text;
}

/* A phase's boundary that needs no specifier. */
static bool boundary(const struct ptx_insn *insn)
{
	return insn->cls == PTX_CLASS_BARRIER || insn->opcode == PTX_OP_membar ||
	       insn->opcode == PTX_OP_fence;
}

static struct json_object *listing_json(const struct ptx_kernel *k, const char *text)
{
	struct json_object *a;
	struct lines lines;

	if (!lines_of(&lines, text))
		return NULL;
	a = json_object_new_array();
	for (uint32_t i = 0; i < k->ninsns; i++) {
		struct json_object *o = json_object_new_object();

		add(o, "line", k->insns[i].line);
		json_object_object_add(o, "text", statement(&k->insns[i], &lines));
		if (k->live)
			add(o, "live", k->live[i]);
		if (k->phases && boundary(&k->insns[i]))
			json_object_object_add(o, "boundary", json_object_new_boolean(true));
		json_object_array_add(a, o);
	}
	free(lines.at);
	return a;
}

/* Where the kernel's phases begin, and what they need. */
static struct json_object *phases_json(const struct ptx_kernel *k)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < k->nphases; i++) {
		const struct ptx_phase *p = &k->phases[i];
		struct json_object *o = json_object_new_object();

		add(o, "instruction", p->insn);
		add(o, "line", k->insns[p->insn].line);
		add(o, "live", p->live);
		add(o, "regs", p->regs);
		add(o, "smem", p->smem);
		json_object_object_add(o, "scratchpad", json_object_new_boolean(p->smem_end));
		/* Without it, all that the CTA has. */
		if (p->smem_end != PTX_EXTENT_END)
			add(o, "smem_end", p->smem_end);
		add(o, "register_sets", (uint64_t)__builtin_popcountll(p->sets));
		add(o, "kept_sets", (uint64_t)__builtin_popcountll(p->kept));
		add(o, "loose_sets", p->loose);
		json_object_object_add(o, "specifier", json_object_new_boolean(!p->quiet));
		json_object_array_add(a, o);
	}
	return a;
}

struct json_object *info_kernel(const struct ptx_kernel *k, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(k->name));
	add(o, "line", k->line);
	add(o, "regs", k->regs_per_thread);
	add(o, "preds", k->preds_per_thread);
	add(o, "max_live", k->max_live);
	add(o, "spill_store_bytes", k->spill_store_bytes);
	add(o, "spill_load_bytes", k->spill_load_bytes);
	add(o, "local_bytes", k->local_bytes);
	add(o, "smem", k->shared_bytes);
	add(o, "const_bytes", k->const_bytes);
	add(o, "param_bytes", k->param_bytes);
	json_object_object_add(o, "params", params_json(k));
	if (k->max_threads)
		add(o, "max_threads", k->max_threads);
	add(o, "instructions", k->ninsns);
	json_object_object_add(o, "functions", functions_json(k));
	if (k->phases)
		json_object_object_add(o, "phases", phases_json(k));
	if (text)
		json_object_object_add(o, "listing", listing_json(k, text));
	return o;
}

/* --- text ----------------------------------------------------------------------------- */

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

/* "1 register", "6 registers" */
static const char *plural(struct json_object *o, const char *path)
{
	return count(o, path) == 1 ? "" : "s";
}

static void print_count(FILE *out, uint64_t n, const char *noun, const char *behind)
{
	fprintf(out, "%" PRIu64 " %s%s%s", n, noun, n == 1 ? "" : "s", behind);
}

/* "u64 u64 b8[12]": as they are declared. */
static void print_params(FILE *out, struct json_object *params)
{
	for (size_t i = 0; i < json_object_array_length(params); i++) {
		struct json_object *p = json_object_array_get_idx(params, i);
		const char *type = output_string(p, "type");
		uint64_t bytes = count(p, "bytes"), bits = strtoull(type + 1 + (type[1] == 'f'), NULL, 10);

		fprintf(out, "%s%s", i ? " " : ": ", type);
		if (bits && bytes != bits / 8)
			fprintf(out, "[%" PRIu64 "]", bytes / (bits / 8));
	}
}

static void print_functions(FILE *out, struct json_object *functions)
{
	for (size_t i = 0; i < json_object_array_length(functions); i++) {
		struct json_object *f = json_object_array_get_idx(functions, i);

		fprintf(out, "  function %s, line %" PRIu64 ": ", output_string(f, "name"),
			count(f, "line"));
		print_count(out, count(f, "instructions"), "instruction", ", ");
		fprintf(out, "%" PRIu64 " bytes stack frame%s\n", count(f, "frame_bytes"),
			json_object_get_boolean(output_at(f, "recursive")) ? ", recursive" : "");
	}
}

/* A line of dashes from the specifier to its text, as the papers draw phases. */
static void print_rule(FILE *out, const char *left, const char *right)
{
	int n = 40 - (int)strlen(left);

	fprintf(out, "  %s %.*s %s\n", left, MAX(n, 3),
		"----------------------------------------", right);
}

/* How much of its CTA's scratchpad the phase needs. */
static void scratchpad_text(struct json_object *p, char *text, size_t size)
{
	if (!output_has(p, "smem_end"))
		snprintf(text, size, "all scratchpad");
	else if (!count(p, "smem_end"))
		snprintf(text, size, "no scratchpad");
	else
		snprintf(text, size, "scratchpad below byte %" PRIu64, count(p, "smem_end"));
}

static void print_phase(FILE *out, struct json_object *p, size_t number, bool *dynamic)
{
	char left[64], right[160], scratchpad[64];
	int n;

	*dynamic |= !output_has(p, "smem_end");
	scratchpad_text(p, scratchpad, sizeof(scratchpad));
	if (json_object_get_boolean(output_at(p, "specifier")))
		snprintf(left, sizeof(left), ".phasechange %" PRIu64 ",%" PRIu64 ";",
			 count(p, "regs"), count(p, "smem"));
	else
		snprintf(left, sizeof(left), "(no specifier)");
	n = snprintf(right, sizeof(right), "phase %zu: %" PRIu64 " register%s in %" PRIu64
		     " set%s, %s; %" PRIu64 " live", number + 1, count(p, "regs"),
		     plural(p, "regs"), count(p, "register_sets"), plural(p, "register_sets"),
		     scratchpad, count(p, "live"));
	if (count(p, "loose_sets"))
		snprintf(right + n, sizeof(right) - (size_t)n, " in %" PRIu64 " set%s, %" PRIu64
			 " more than they fill", count(p, "kept_sets"), plural(p, "kept_sets"),
			 count(p, "loose_sets"));
	print_rule(out, left, right);
}

static void print_phases(FILE *out, struct json_object *listing, struct json_object *phases)
{
	size_t next = 0, n = json_object_array_length(phases);
	bool dynamic = false;

	for (size_t i = 0; i < json_object_array_length(listing); i++) {
		struct json_object *o = json_object_array_get_idx(listing, i);
		struct json_object *p = next < n ? json_object_array_get_idx(phases, next) : NULL;

		if (p && count(p, "instruction") == i)
			print_phase(out, p, next++, &dynamic);
		fprintf(out, "  %6" PRIu64 " %6" PRIu64 "  %s\n", count(o, "line"),
			count(o, "live"), output_string(o, "text"));
		if (output_has(o, "boundary"))
			print_rule(out, "", "a boundary without specifier");
	}
	if (dynamic)
		fputs("  all scratchpad: static bytes, and a launch's dynamic ones with them\n", out);
}

static void print_listing(FILE *out, struct json_object *listing)
{
	fprintf(out, "  %6s %6s  instruction\n", "line", "live");
	for (size_t i = 0; i < json_object_array_length(listing); i++) {
		struct json_object *o = json_object_array_get_idx(listing, i);

		fprintf(out, "  %6" PRIu64 " %6" PRIu64 "  %s\n", count(o, "line"),
			count(o, "live"), output_string(o, "text"));
	}
}

void info_text(FILE *out, struct json_object *k, const char *file)
{
	struct json_object *listing = output_at(k, "listing");

	fprintf(out, "%s, %s:%" PRIu64 "\n", output_string(k, "name"), file, count(k, "line"));
	fputs("  ", out);
	print_count(out, count(k, "regs"), "register", ", ");
	print_count(out, count(k, "preds"), "predicate", " a thread; ");
	print_count(out, count(k, "max_live"), "register", " live at most\n");
	fprintf(out, "  %" PRIu64 " bytes stack frame, %" PRIu64 " bytes spill stores, %" PRIu64
		" bytes spill loads\n", count(k, "local_bytes"), count(k, "spill_store_bytes"),
		count(k, "spill_load_bytes"));
	fprintf(out, "  %" PRIu64 " bytes shared, %" PRIu64 " bytes constant, %" PRIu64
		" bytes parameters", count(k, "smem"), count(k, "const_bytes"),
		count(k, "param_bytes"));
	print_params(out, output_at(k, "params"));
	fputs("\n  ", out);
	print_count(out, count(k, "instructions"), "instruction", "");
	if (output_has(k, "max_threads"))
		fprintf(out, ", at most %" PRIu64 " threads a CTA", count(k, "max_threads"));
	fputc('\n', out);
	print_functions(out, output_at(k, "functions"));
	if (listing && output_has(k, "phases"))
		print_phases(out, listing, output_at(k, "phases"));
	else if (listing)
		print_listing(out, listing);
}
