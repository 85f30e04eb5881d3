// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of --arg. One function reads the text of one kind and appends it to
 * the argument; a struct is its members, each read as an argument would be.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "workload.h"

struct kind {
	const char *name, *form, *help;
	int (*read)(struct arg_list *list, struct arg *arg, const struct kind *kind,
		    const char *text, struct err *err);
	unsigned int bytes;
	int64_t low;
	uint64_t high;
};

/* Every reader complains with this: what is wrong, then what it expected. */
static int expected(const struct kind *kind, const char *text, const char *why,
		    struct err *err)
{
	return err_set(err, -EINVAL, "'%s:%s': %s; expected is %s:%s, %s", kind->name, text,
		       why, kind->name, kind->form, kind->help);
}

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "no memory for the arguments");
}

/* --- an argument grows ------------------------------------------------------- */

/* Aligns the argument as a member of a struct; the first one is at 0 whatever its alignment. */
static int append(struct arg *arg, const void *data, size_t bytes, size_t align,
		  struct err *err)
{
	size_t at = (arg->bytes + align - 1) / align * align;
	unsigned char *image = realloc(arg->image, at + bytes);

	if (!image)
		return no_memory(err);
	memset(image + arg->bytes, 0, at - arg->bytes);
	memcpy(image + at, data, bytes);
	arg->image = image;
	arg->bytes = at + bytes;
	arg->align = MAX(arg->align, align);
	return 0;
}

static int append_address(struct arg *arg, unsigned int buffer, uint64_t add,
			  struct err *err)
{
	const uint64_t unknown = 0;
	struct arg_slot *slots;
	int ret;

	ret = append(arg, &unknown, sizeof(unknown), sizeof(unknown), err);
	if (ret)
		return ret;
	slots = realloc(arg->slots, (arg->nslots + 1) * sizeof(*slots));
	if (!slots)
		return no_memory(err);
	slots[arg->nslots++] = (struct arg_slot){ arg->bytes - sizeof(unknown), buffer, add };
	arg->slots = slots;
	return 0;
}

/* Takes the names, even if it fails. */
static int append_buffer(struct arg_list *list, struct arg *arg, struct arg_buffer buffer,
			 struct err *err)
{
	struct arg_buffer *buffers;

	buffers = realloc(list->buffers, (list->nbuffers + 1) * sizeof(*buffers));
	if (!buffers) {
		free(buffer.in);
		free(buffer.out);
		return no_memory(err);
	}
	buffers[list->nbuffers] = buffer;
	list->buffers = buffers;
	return append_address(arg, list->nbuffers++, 0, err);
}

/* --- values ---------------------------------------------------------------------- */

static int read_unsigned(struct arg_list *list, struct arg *arg, const struct kind *kind,
			 const char *text, struct err *err)
{
	uint64_t value;
	int ret = number_parse(text, &value);
	char why[64];

	if (ret == -EINVAL)
		return expected(kind, text, "not an unsigned integer", err);
	if (ret || value > kind->high) {
		snprintf(why, sizeof(why), "outside 0 to %" PRIu64, kind->high);
		return expected(kind, text, why, err);
	}
	/* Little-endian, as the GPU is. */
	return append(arg, &value, kind->bytes, kind->bytes, err);
}

static int read_signed(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, struct err *err)
{
	bool negative = *text == '-';
	uint64_t magnitude, limit = negative ? -(uint64_t)kind->low : kind->high;
	int ret = number_parse(text + negative, &magnitude);
	char why[80];

	if (ret == -EINVAL)
		return expected(kind, text, "not an integer", err);
	if (ret || magnitude > limit) {
		snprintf(why, sizeof(why), "outside %" PRId64 " to %" PRIu64, kind->low, kind->high);
		return expected(kind, text, why, err);
	}
	if (negative)
		magnitude = -magnitude;
	return append(arg, &magnitude, kind->bytes, kind->bytes, err);
}

/* PTX's own notation: 0f and 8 digits, 0d and 16. */
static bool read_bits(const char *text, char letter, unsigned int digits, uint64_t *bits)
{
	char *end;

	if (text[0] != '0' || (text[1] | 0x20) != letter || strlen(text) != digits + 2 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != digits)
		return false;
	*bits = strtoull(text + 2, &end, 16);
	return true;
}

static int read_float(struct arg_list *list, struct arg *arg, const struct kind *kind,
		      const char *text, struct err *err)
{
	uint64_t bits;
	float value;
	char *end;

	arg->sort = ARG_FLOAT;
	if (read_bits(text, 'f', 8, &bits))
		return append(arg, &bits, 4, 4, err);
	value = strtof(text, &end);
	if (end == text || *end)
		return expected(kind, text, "not a number", err);
	if (isinf(value) && !strpbrk(text, "iI"))
		return expected(kind, text, "more than a float holds", err);
	return append(arg, &value, 4, 4, err);
}

static int read_double(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, struct err *err)
{
	uint64_t bits;
	double value;
	char *end;

	arg->sort = ARG_FLOAT;
	if (read_bits(text, 'd', 16, &bits))
		return append(arg, &bits, 8, 8, err);
	value = strtod(text, &end);
	if (end == text || *end)
		return expected(kind, text, "not a number", err);
	if (isinf(value) && !strpbrk(text, "iI"))
		return expected(kind, text, "more than a double holds", err);
	return append(arg, &value, 8, 8, err);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_bytes(struct arg_list *list, struct arg *arg, const struct kind *kind,
		      const char *text, struct err *err)
{
	size_t digits = strlen(text);
	int ret = 0;

	arg->sort = ARG_BYTES;
	if (!digits || digits % 2)
		return expected(kind, text, "not two hexadecimal digits a byte", err);
	for (size_t i = 0; i < digits && !ret; i += 2) {
		int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
		unsigned char byte = (unsigned char)(high << 4 | low);

		if (high < 0 || low < 0)
			return expected(kind, text, "not hexadecimal digits", err);
		ret = append(arg, &byte, 1, 1, err);
	}
	return ret;
}

/* --- buffers ------------------------------------------------------------------------ */

static int read_size(const struct kind *kind, const char *text, const char *number,
		     uint64_t unit, uint64_t *bytes, struct err *err)
{
	uint64_t n;
	int ret = number_parse(number, &n);

	if (ret == -EINVAL || !n)
		return expected(kind, text, "the size is not a number above 0 (as 4096, 64K, 1M)", err);
	if (ret || n > INT64_MAX / unit)
		return expected(kind, text, "the size is too large", err);
	*bytes = n * unit;
	return 0;
}

static int read_zero(struct arg_list *list, struct arg *arg, const struct kind *kind,
		     const char *text, struct err *err)
{
	struct arg_buffer buffer = { .fill = ARG_ZERO };
	int ret = read_size(kind, text, text, 1, &buffer.bytes, err);

	return ret ? ret : append_buffer(list, arg, buffer, err);
}

static int read_iota32(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, struct err *err)
{
	struct arg_buffer buffer = { .fill = ARG_IOTA32 };
	int ret = read_size(kind, text, text, 4, &buffer.bytes, err);

	return ret ? ret : append_buffer(list, arg, buffer, err);
}

/*
 * Copies the text up to the first colon into `room`. NULL: there is no colon, or the text is
 * too long.
 */
static const char *before_colon(const char *text, char room[32])
{
	size_t n = strcspn(text, ":");

	if (!text[n] || n >= 32)
		return NULL;
	memcpy(room, text, n);
	room[n] = '\0';
	return room;
}

static int read_random(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, enum arg_fill fill, struct err *err)
{
	struct arg_buffer buffer = { .fill = fill };
	char room[32];
	const char *number = before_colon(text, room);
	int ret;

	if (!number)
		return expected(kind, text, "no seed", err);
	ret = read_size(kind, text, number, 4, &buffer.bytes, err);
	if (ret)
		return ret;
	if (number_parse(strchr(text, ':') + 1, &buffer.seed))
		return expected(kind, text, "the seed is not a number", err);
	return append_buffer(list, arg, buffer, err);
}

static int read_rand32(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, struct err *err)
{
	return read_random(list, arg, kind, text, ARG_RAND32, err);
}

static int read_randf32(struct arg_list *list, struct arg *arg, const struct kind *kind,
			const char *text, struct err *err)
{
	return read_random(list, arg, kind, text, ARG_RANDF32, err);
}

static int read_in(struct arg_list *list, struct arg *arg, const struct kind *kind,
		   const char *text, struct err *err)
{
	struct arg_buffer buffer = { .fill = ARG_FILE, .in = strdup(text) };

	if (!*text) {
		free(buffer.in);
		return expected(kind, text, "no file", err);
	}
	return buffer.in ? append_buffer(list, arg, buffer, err) : no_memory(err);
}

static int read_out(struct arg_list *list, struct arg *arg, const struct kind *kind,
		    const char *text, struct err *err)
{
	struct arg_buffer buffer = { .fill = ARG_ZERO };
	char room[32];
	const char *number = before_colon(text, room);
	int ret;

	if (!number || !strchr(text, ':')[1])
		return expected(kind, text, "no file", err);
	ret = read_size(kind, text, number, 1, &buffer.bytes, err);
	if (ret)
		return ret;
	buffer.out = strdup(strchr(text, ':') + 1);
	return buffer.out ? append_buffer(list, arg, buffer, err) : no_memory(err);
}

static int read_inout(struct arg_list *list, struct arg *arg, const struct kind *kind,
		      const char *text, struct err *err)
{
	struct arg_buffer buffer = { .fill = ARG_FILE };
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return expected(kind, text, "not two files", err);
	buffer.in = strndup(text, (size_t)(colon - text));
	buffer.out = strdup(colon + 1);
	if (!buffer.in || !buffer.out) {
		free(buffer.in);
		free(buffer.out);
		return no_memory(err);
	}
	return append_buffer(list, arg, buffer, err);
}

static int read_buf(struct arg_list *list, struct arg *arg, const struct kind *kind,
		    const char *text, struct err *err)
{
	const struct arg *other;
	uint64_t add = 0;
	char why[64];
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || (*end && *end != '+') ||
	    (*end == '+' && number_parse(end + 1, &add)))
		return expected(kind, text, "not an argument's number", err);
	other = n < list->count ? &list->args[n] : NULL;
	if (!other || other->nslots != 1) {
		snprintf(why, sizeof(why), !other ? "%lu is not an argument before this one" :
			 "argument %lu has no buffer, or several", n);
		return expected(kind, text, why, err);
	}
	return append_address(arg, other->slots[0].buffer, other->slots[0].add + add, err);
}

/* --- the table and what reads with it ------------------------------------------------- */

static int read_spec(struct arg_list *list, struct arg *arg, const char *spec, bool member,
		     struct err *err);

static int read_struct(struct arg_list *list, struct arg *arg, const struct kind *kind,
		       const char *text, struct err *err)
{
	char *members = strdup(text), *rest = members, *member;
	int ret = 0;

	if (!members)
		return no_memory(err);
	while (!ret && (member = strsep(&rest, ",")))
		ret = read_spec(list, arg, member, true, err);
	free(members);
	arg->sort = ARG_BYTES;
	/* Padding at the end, so that the next element of an array would be aligned. */
	return ret ? ret : append(arg, "", 0, arg->align, err);
}

static const struct kind kinds[] = {
#define X(name, form, help, reader, bytes, low, high)			\
	{ #name, form, help, read_##reader, bytes, low, high },
#include "arg_kinds.def"
#undef X
};

bool arg_kind_row(unsigned int n, const char **name, const char **form, const char **help)
{
	if (n >= ARRAY_SIZE(kinds))
		return false;
	*name = kinds[n].name;
	*form = kinds[n].form;
	*help = kinds[n].help;
	return true;
}

static int unknown_kind(const char *spec, struct err *err)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 i ? ", " : "", kinds[i].name);
	return err_set(err, -EINVAL, "'%s': not KIND:..., and the kinds are: %s", spec, known);
}

static int read_spec(struct arg_list *list, struct arg *arg, const char *spec, bool member,
		     struct err *err)
{
	size_t length = strcspn(spec, ":");

	for (size_t i = 0; spec[length] && i < ARRAY_SIZE(kinds); i++) {
		if (strlen(kinds[i].name) != length || memcmp(kinds[i].name, spec, length))
			continue;
		if (member && kinds[i].read == read_struct)
			return expected(&kinds[i], spec + length + 1, "a struct in a struct", err);
		return kinds[i].read(list, arg, &kinds[i], spec + length + 1, err);
	}
	return unknown_kind(spec, err);
}

int arg_parse(struct arg_list *list, const char *spec, struct err *err)
{
	struct arg arg = { .spec = spec, .align = 1 };
	struct err why = { "" };
	struct arg *args;
	int ret;

	ret = read_spec(list, &arg, spec, false, &why);
	args = ret ? NULL : realloc(list->args, (list->count + 1) * sizeof(*args));
	if (!args) {
		free(arg.image);
		free(arg.slots);
		return ret ? err_set(err, ret, "--arg %u %s", list->count + 1, why.text) :
			     no_memory(err);
	}
	args[list->count++] = arg;
	list->args = args;
	return 0;
}

void arg_free(struct arg_list *list)
{
	for (unsigned int i = 0; i < list->count; i++) {
		free(list->args[i].image);
		free(list->args[i].slots);
	}
	for (unsigned int i = 0; i < list->nbuffers; i++) {
		free(list->buffers[i].in);
		free(list->buffers[i].out);
	}
	free(list->args);
	free(list->buffers);
	*list = (struct arg_list){ 0 };
}

/* --- against the kernel ---------------------------------------------------------------- */

/* "8, 8, 4 and 4 bytes" */
static void parameter_sizes(const struct ptx_kernel *k, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < k->nparams && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u", !i ? " of " :
					 i + 1 < k->nparams ? ", " : " and ", k->params[i].bytes);
	if (k->nparams && used < size)
		snprintf(text + used, size - used, " bytes");
}

static int check_one(const struct ptx_kernel *k, unsigned int i, const struct arg *arg,
		     struct err *err)
{
	const struct ptx_param *p = &k->params[i];
	bool is_float = p->type == PTX_F32 || p->type == PTX_F64;
	bool is_integer = p->type >= PTX_U8 && p->type <= PTX_S64;

	if (arg->bytes != p->bytes)
		return err_set(err, -EINVAL, "--arg %u '%s' has %zu bytes, parameter %u of kernel '%s' has %u",
			       i + 1, arg->spec, arg->bytes, i + 1, k->name, p->bytes);
	/*
	 * The sizes agree and the types differ: the value would mean something else. Bytes
	 * pass for any type.
	 */
	if ((is_float && arg->sort == ARG_INTEGER) || (is_integer && arg->sort == ARG_FLOAT))
		return err_set(err, -EINVAL, "--arg %u '%s': parameter %u of kernel '%s' is %s of %u bytes",
			       i + 1, arg->spec, i + 1, k->name, is_float ? "a float" : "an integer", p->bytes);
	return 0;
}

int arg_check(const struct arg_list *list, const struct ptx_kernel *kernel, struct err *err)
{
	char sizes[256];
	int ret = 0;

	if (list->count != kernel->nparams) {
		parameter_sizes(kernel, sizes, sizeof(sizes));
		return err_set(err, -EINVAL, "kernel '%s' has %u parameter%s%s, and %u --arg %s given",
			       kernel->name, kernel->nparams, kernel->nparams == 1 ? "" : "s",
			       sizes, list->count, list->count == 1 ? "is" : "are");
	}
	for (unsigned int i = 0; i < list->count && !ret; i++)
		ret = check_one(kernel, i, &list->args[i], err);
	return ret;
}
