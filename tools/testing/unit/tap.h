/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Test Anything Protocol for one-file test programs:
 *
 *	int main(void)
 *	{
 *		ok(add(1, 2) == 3, "adds %d and %d", 1, 2);
 *		eq_u64(mul(2, 3), 6, "multiplies");
 *		if (!have_hugepages())
 *			skip("no huge pages");
 *		return done_testing();
 *	}
 *
 * prints "ok 1 - adds 1 and 2" ... "1..3". Exit status: 0 all passed (or single
 * tests were skipped), 1 something failed, 77 the whole program was skipped by
 * skip_all(). All checks may be called from any thread.
 */
#ifndef MONAD_TAP_H
#define MONAD_TAP_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	unsigned int run;
	unsigned int failed;
} tap_state = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

/* A comment line; for what a reader of a failure needs to know. */
__attribute__((unused, format(printf, 1, 2))) static void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&tap_state.lock);
	fputs("# ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
	pthread_mutex_unlock(&tap_state.lock);
	va_end(ap);
}

/* @got_want: NULL, or what to say besides when the check failed. */
__attribute__((unused, format(printf, 5, 6))) static bool
tap_report(bool pass, const char *file, int line, const char *got_want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&tap_state.lock);
	printf("%sok %u - ", pass ? "" : "not ", ++tap_state.run);
	vprintf(fmt, ap);
	putchar('\n');
	if (!pass) {
		tap_state.failed++;
		printf("#   failed at %s:%d\n", file, line);
		if (got_want)
			printf("#   %s\n", got_want);
	}
	fflush(stdout);
	pthread_mutex_unlock(&tap_state.lock);
	va_end(ap);
	return pass;
}

__attribute__((unused)) static const char *tap_u64(char *buf, size_t size, uint64_t got,
						   uint64_t want)
{
	snprintf(buf, size, "got %llu (0x%llx), want %llu (0x%llx)", (unsigned long long)got,
		 (unsigned long long)got, (unsigned long long)want, (unsigned long long)want);
	return buf;
}

/* Each check is true when it passed, so that it can guard what follows. */
#define ok(cond, ...) tap_report(!!(cond), __FILE__, __LINE__, "false: " #cond, __VA_ARGS__)

#define eq_u64(got, want, ...)                                                                 \
	({                                                                                     \
		char tap_buf[128];                                                             \
		uint64_t tap_got = (uint64_t)(got), tap_want = (uint64_t)(want);               \
		tap_report(tap_got == tap_want, __FILE__, __LINE__,                            \
			   tap_u64(tap_buf, sizeof(tap_buf), tap_got, tap_want), __VA_ARGS__); \
	})

/* Two errnos, or other ints. */
#define eq_int(got, want, ...)                                                             \
	({                                                                                 \
		char tap_buf[128];                                                         \
		int tap_got = (got), tap_want = (want);                                    \
		snprintf(tap_buf, sizeof(tap_buf), "got %d, want %d", tap_got, tap_want);  \
		tap_report(tap_got == tap_want, __FILE__, __LINE__, tap_buf, __VA_ARGS__); \
	})

/* Two strings; NULL equals NULL only. */
#define eq_str(got, want, ...)                                                              \
	({                                                                                  \
		char tap_buf[1024];                                                         \
		const char *tap_got = (got), *tap_want = (want);                            \
		snprintf(tap_buf, sizeof(tap_buf), "got \"%.480s\", want \"%.480s\"",       \
			 tap_got ? tap_got : "(null)", tap_want ? tap_want : "(null)");     \
		tap_report(tap_got == tap_want ||                                           \
				   (tap_got && tap_want && strcmp(tap_got, tap_want) == 0), \
			   __FILE__, __LINE__, tap_buf, __VA_ARGS__);                       \
	})

/* One test that cannot run here, and why. */
__attribute__((unused, format(printf, 1, 2))) static void skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&tap_state.lock);
	printf("ok %u # SKIP ", ++tap_state.run);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
	pthread_mutex_unlock(&tap_state.lock);
	va_end(ap);
}

/* The whole program cannot run here: before the first check only. */
__attribute__((unused, noreturn, format(printf, 1, 2))) static void skip_all(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("1..0 # SKIP ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	exit(77);
}

/* A step every later check needs failed: no use going on. */
__attribute__((unused, noreturn, format(printf, 1, 2))) static void bail_out(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("Bail out! ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	exit(1);
}

/* Prints the plan; what main() returns. */
__attribute__((unused)) static int done_testing(void)
{
	printf("1..%u\n", tap_state.run);
	if (tap_state.failed)
		printf("# %u of %u failed\n", tap_state.failed, tap_state.run);
	fflush(stdout);
	return tap_state.failed ? 1 : 0;
}

#endif /* MONAD_TAP_H */
