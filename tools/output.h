/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small parts of every report: numbers for people, JSON for programs, and the
 * reading of what the library reported.
 */
#ifndef GPUEMU_TOOLS_OUTPUT_H
#define GPUEMU_TOOLS_OUTPUT_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

/* "812 ns", "31.2 us", "1.23 ms": three digits. */
const char *output_ns(char text[24], double ns);
/* "4.00 MiB" */
const char *output_bytes(char text[24], uint64_t bytes);

/* The number at "paging.latency_ns.p50", 0 when absent; has_ says whether it is there. */
double output_number(struct json_object *o, const char *path);
bool output_has(struct json_object *o, const char *path);
/* "" when absent. */
const char *output_string(struct json_object *o, const char *path);
/* A number picks an element of an array, "workloads.0.ipc". Borrowed; NULL when absent. */
struct json_object *output_at(struct json_object *o, const char *path);

/* A JSON number with `digits` decimals. */
struct json_object *output_decimal(double value, unsigned int digits);

/* The file's JSON. NULL: *err names the file and says why in one line. */
struct json_object *output_read(const char *file, struct err *err);

/* The file to write, or stdout for "-" and NULL. -errno: err names the file and says why. */
int output_open(FILE **out, const char *file, struct err *err);
/* Closes it, stdout not. -errno: not all that was written since output_open() is there. */
int output_close(FILE *out, const char *file, struct err *err);
/* -errno; the sentence names the file and has the code's text. */
int output_cannot(const char *file, int code, struct err *err);

/* Writes it, with a newline, to the file, or to stdout for "-" and NULL. */
int output_json(struct json_object *o, const char *file, struct err *err);

/*
 * Tells before a run, which may take hours, whether the file can be written. NULL and "-":
 * yes.
 */
int output_check(const char *file, struct err *err);

/* An option that writes a file; file NULL: it was not given. */
struct output_option {
	const char *option, *file;
};

/* -EINVAL: two of them write one file, where what one writes would be lost. */
int output_apart(const struct output_option *rows, size_t n, struct err *err);

uint64_t now_ns(void);

#endif
