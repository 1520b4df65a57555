// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include "printable.h"

/*
 * Overlong forms, surrogates and what is beyond U+10FFFF are none, as the Unicode
 * standard, table 3-7, says.
 */
size_t utf8_len(const unsigned char *s, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		need = 2;
	} else if (s[0] >= 0xe0 && s[0] <= 0xef) {
		need = 3;
		if (s[0] == 0xe0)
			low = 0xa0;
		else if (s[0] == 0xed)
			high = 0x9f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		need = 4;
		if (s[0] == 0xf0)
			low = 0x90;
		else if (s[0] == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (len < need || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return need;
}

const char *printable(char *buf, size_t buf_size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text), used = 0;

	while (left) {
		size_t step = utf8_len(s, left);
		bool control = s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && step && s[1] < 0xa0);
		size_t put = step && !control ? step : 1;

		if (used + put >= buf_size)
			break;
		if (step && !control)
			memcpy(buf + used, s, step);
		else
			buf[used] = '?';
		used += put;
		step = step ? step : 1;
		s += step;
		left -= step;
	}
	buf[used] = '\0';
	return buf;
}
