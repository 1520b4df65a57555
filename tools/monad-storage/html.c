// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "html.h"
#include "printable.h"

void html_text(FILE *out, const char *text)
{
	char clean[1024];

	for (const char *p = printable(clean, sizeof(clean), text); *p; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*p, out);
		}
	}
}
