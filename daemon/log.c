// SPDX-License-Identifier: GPL-2.0
/*
 * Log lines of the daemon. One write a line, so that lines of several
 * processes on one terminal stay whole.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static const char *const level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARNING] = "warning",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};

bool log_level_parse(const char *name, enum log_level *level)
{
	for (unsigned int i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (strcmp(name, level_names[i]) == 0) {
			*level = i;
			return true;
		}
	}
	return false;
}

/* A client chooses kernel names and texts: what is not printable stays out of the terminal. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list args;
	int prefix, n;

	if (level > log->level)
		return;
	prefix = snprintf(line, sizeof(line), "gpuemud: ");
	va_start(args, fmt);
	vsnprintf(line + prefix, sizeof(line) - prefix - 1, fmt, args);
	va_end(args);
	make_printable(line);
	n = strlen(line);
	line[n++] = '\n';
	/* A closed stderr is no reason to stop serving. */
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}
