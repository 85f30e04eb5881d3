// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"
#include "wrap.h"

#define WIDTH		80u	/* columns of a file, and of a terminal that does not tell */
#define WIDTH_LEAST	40u	/* narrower lines are unreadable */

void wrap_lines(FILE *out, unsigned int indent, unsigned int width, const char *text)
{
	size_t used = 0;	/* of the line; 0: it has not begun */
	size_t before = indent + strspn(text, " ");

	text += strspn(text, " ");
	while (*text) {
		size_t n = strcspn(text, " \n"), blanks = strspn(text + n, " ");

		if (used && n && used + 1 + n > width) {
			fputc('\n', out);
			used = 0;
		}
		if (n) {
			fprintf(out, "%*s%.*s", used ? 1 : (int)before, "", (int)n, text);
			used = used ? used + 1 + n : before + n;
		}
		text += n + blanks;
		if (*text == '\n') {
			fputc('\n', out);
			used = 0;
			before = indent + strspn(++text, " ");
			text += strspn(text, " ");
		}
	}
	if (used)
		fputc('\n', out);
}

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH;
	return MAX((unsigned int)size.ws_col, WIDTH_LEAST);
}

void wrap_print(unsigned int indent, const char *text)
{
	wrap_lines(stdout, indent, terminal_width(), text);
}
