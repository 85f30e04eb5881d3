/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's log: lines on stderr, "gpuemud: text". For main.c and the works
 * it dispatches; the engine's rooms return errors and log nothing.
 */
#ifndef GPUEMU_LOG_H
#define GPUEMU_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

struct log {
	enum log_level level;
};

/* False: no such level. */
bool log_level_parse(const char *name, enum log_level *level);
void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
