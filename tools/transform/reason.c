// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "reason.h"
#include "storage_names.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *class;
	const char *event_name;
} names[REASONS] = {
	[REASON_ERROR] = { "error", "io_error" },
	[REASON_TIMEOUT] = { "timeout", "io_timeout" },
	[REASON_STUCK] = { "stuck", "io_stuck" },
	[REASON_RETRY] = { "retry", "io_retry" },
	[REASON_FLUSH] = { "flush", "slow_flush" },
	[REASON_FSYNC] = { "fsync", "slow_fsync" },
	[REASON_SLOW] = { "slow", "slow_io" },
	[REASON_THROTTLE] = { "throttle", "dirty_throttle" },
	[REASON_CONGESTION] = { "congestion", "congestion" },
	[REASON_UNSEEN] = { "unseen", "end_unseen" },
};

/*
 * Which one it is
 */

static bool is_slow(const struct facts *facts, const struct limits *limits)
{
	if (limits->slow_ns)
		return facts->has_latency && facts->latency_ns >= limits->slow_ns;
	return facts->flags & MONAD_STORAGE_F_SLOW;
}

static bool timed_out(const struct facts *facts)
{
	return facts->error == ETIMEDOUT || facts->flags & MONAD_STORAGE_F_TIMED_OUT;
}

static bool is_stuck(const struct facts *facts, const struct limits *limits)
{
	return limits->stuck_ns && facts->has_latency && facts->latency_ns >= limits->stuck_ns;
}

static enum reason reason_of_call(const struct facts *facts, const struct limits *limits)
{
	if (facts->error)
		return REASON_ERROR;
	if (facts->type == MONAD_STORAGE_DIRTY_THROTTLE)
		return facts->latency_ns >= limits->slow_ns ? REASON_THROTTLE : REASON_NONE;
	if (!limits->slow_ns || facts->latency_ns < limits->slow_ns)
		return REASON_NONE;
	return facts->type == MONAD_STORAGE_VFS_SYNC ? REASON_FSYNC : REASON_SLOW;
}

static enum reason reason_of_end(const struct facts *facts, const struct limits *limits)
{
	if (facts->error && facts->error != ETIMEDOUT)
		return REASON_ERROR;
	if (timed_out(facts))
		return REASON_TIMEOUT;
	if (is_stuck(facts, limits))
		return REASON_STUCK;
	if (facts->requeues_issued)
		return REASON_RETRY;
	if (is_slow(facts, limits))
		return facts_are_of_flush(facts) ? REASON_FLUSH : REASON_SLOW;
	return facts->flags & MONAD_STORAGE_F_END_UNSEEN ? REASON_UNSEEN : REASON_NONE;
}

enum reason reason_of(const struct facts *facts, const struct limits *limits)
{
	switch (facts->type) {
	case 0:
		if (facts->count)
			return limits->inflight && facts->count >= limits->inflight ?
			       REASON_CONGESTION : REASON_NONE;
		return is_stuck(facts, limits) ? REASON_STUCK : REASON_NONE;
	case MONAD_STORAGE_BIO_COMPLETE:
	case MONAD_STORAGE_RQ_COMPLETE:
	case MONAD_STORAGE_FLUSH_COMPLETE:
		return reason_of_end(facts, limits);
	case MONAD_STORAGE_RQ_REQUEUE:
		if (timed_out(facts))
			return REASON_TIMEOUT;
		return facts->issues ? REASON_RETRY : REASON_NONE;
	case MONAD_STORAGE_VFS_IO:
	case MONAD_STORAGE_VFS_SYNC:
	case MONAD_STORAGE_DIRTY_THROTTLE:
		return reason_of_call(facts, limits);
	default:
		/* A step on the way: what comes of it is told at its end. */
		return REASON_NONE;
	}
}

const char *reason_class(enum reason reason)
{
	return names[reason].class;
}

const char *reason_event_name(enum reason reason, const struct facts *facts)
{
	if (reason == REASON_NONE)
		return event_type_name(facts->type);
	/* Whoever was told that it hangs is told that it does not any more. */
	if (reason == REASON_STUCK && (facts->type || facts->gone))
		return "io_stuck_end";
	return names[reason].event_name;
}

/*
 * How bad it is
 */

/* Who asked for it knows what to do then. */
static bool expected(const struct facts *facts, const struct limits *limits)
{
	if (facts_are_of_call(facts))
		return facts->error == EAGAIN || facts->error == EINTR;
	if (facts->error == EAGAIN)
		return facts->flags & MONAD_STORAGE_F_NOWAIT;
	return facts->error == EOPNOTSUPP && facts->op != MONAD_STORAGE_OP_READ &&
	       facts->op != MONAD_STORAGE_OP_WRITE;
}

/* Nobody waits for it, or somebody sent a command of their own. */
static bool of_no_file(const struct facts *facts, const struct limits *limits)
{
	return facts->flags & (MONAD_STORAGE_F_RAHEAD | MONAD_STORAGE_F_PASSTHROUGH);
}

static bool device_is_gone(const struct facts *facts, const struct limits *limits)
{
	return facts->error == ENODEV || facts->error == ENXIO;
}

/* After one of these a file system is read-only, or what was said to be safe is not. */
static bool breaks_promise(const struct facts *facts, const struct limits *limits)
{
	const uint32_t promises = MONAD_STORAGE_F_META | MONAD_STORAGE_F_FUA |
				  MONAD_STORAGE_F_PREFLUSH;

	if (facts_are_of_call(facts))
		return facts->type == MONAD_STORAGE_VFS_SYNC;
	return facts_are_of_flush(facts) ||
	       (facts->op == MONAD_STORAGE_OP_WRITE && facts->flags & promises);
}

static bool failed(const struct facts *facts, const struct limits *limits)
{
	return facts->error;
}

static bool times(uint64_t value, uint64_t limit, unsigned int times_limit)
{
	return limit && value / times_limit >= limit;
}

static bool stuck_4_times(const struct facts *facts, const struct limits *limits)
{
	return times(facts->latency_ns, limits->stuck_ns, 4);
}

static bool requeued_often(const struct facts *facts, const struct limits *limits)
{
	return facts->requeues_issued >= 3;
}

static bool slow_10_times(const struct facts *facts, const struct limits *limits)
{
	return times(facts->latency_ns, limits->slow_ns, 10);
}

/* Twice, or nobody said what is slow here. */
static bool slow_2_times(const struct facts *facts, const struct limits *limits)
{
	return !limits->slow_ns || times(facts->latency_ns, limits->slow_ns, 2);
}

static bool crowded_4_times(const struct facts *facts, const struct limits *limits)
{
	return times(facts->count, limits->inflight, 4);
}

#define INFO MONAD__SEVERITY__SEVERITY_INFO
#define WARN MONAD__SEVERITY__SEVERITY_WARN
#define ERROR MONAD__SEVERITY__SEVERITY_ERROR
#define CRITICAL MONAD__SEVERITY__SEVERITY_CRITICAL

/* Of the same kind in one window: one step worse, but for what is expected. */
#define FREQUENT 100

static const struct rule {
	enum reason reason;
	bool (*when)(const struct facts *facts, const struct limits *limits); /* NULL: always */
	Monad__Severity severity;
} rules[] = {
	/* The first that fits. */
	{ REASON_ERROR, expected, INFO },
	{ REASON_ERROR, device_is_gone, CRITICAL },
	{ REASON_ERROR, of_no_file, WARN },
	{ REASON_ERROR, breaks_promise, CRITICAL },
	{ REASON_ERROR, NULL, ERROR },
	{ REASON_TIMEOUT, failed, CRITICAL },
	{ REASON_TIMEOUT, stuck_4_times, CRITICAL },
	{ REASON_TIMEOUT, NULL, ERROR },
	{ REASON_STUCK, stuck_4_times, CRITICAL },
	{ REASON_STUCK, NULL, ERROR },
	{ REASON_RETRY, requeued_often, WARN },
	{ REASON_RETRY, NULL, INFO },
	{ REASON_FLUSH, slow_10_times, ERROR },
	{ REASON_FLUSH, slow_2_times, WARN },
	{ REASON_FLUSH, NULL, INFO },
	{ REASON_FSYNC, slow_10_times, ERROR },
	{ REASON_FSYNC, slow_2_times, WARN },
	{ REASON_FSYNC, NULL, INFO },
	{ REASON_SLOW, slow_10_times, ERROR },
	{ REASON_SLOW, slow_2_times, WARN },
	{ REASON_SLOW, NULL, INFO },
	{ REASON_THROTTLE, slow_10_times, WARN },
	{ REASON_THROTTLE, NULL, INFO },
	{ REASON_CONGESTION, crowded_4_times, ERROR },
	{ REASON_CONGESTION, NULL, WARN },
	{ REASON_UNSEEN, NULL, INFO },
};

Monad__Severity reason_severity(enum reason reason, const struct facts *facts,
				const struct limits *limits, uint64_t frequency)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *rule = &rules[i];

		if (rule->reason != reason || (rule->when && !rule->when(facts, limits)))
			continue;
		if (rule->when == expected || frequency < FREQUENT || rule->severity == CRITICAL)
			return rule->severity;
		return rule->severity + 1;
	}
	return INFO;
}

/*
 * In words
 */

const char *reason_text(enum reason reason, const struct facts *facts, char text[REASON_TEXT_LEN])
{
	const char *where = facts->queue_ns > facts->device_ns ? "queue" : "device";

	*text = '\0';
	switch (reason) {
	case REASON_TIMEOUT:
		if (!facts->error) {
			snprintf(text, REASON_TEXT_LEN, "timed out");
			break;
		}
		/* fall through */
	case REASON_ERROR:
		snprintf(text, REASON_TEXT_LEN, "%s", errno_name(facts->error));
		break;
	case REASON_RETRY:
		snprintf(text, REASON_TEXT_LEN, "requeued %u times",
			 facts->requeues_issued ? facts->requeues_issued : 1);
		break;
	case REASON_STUCK:
		if (!facts->type) {
			snprintf(text, REASON_TEXT_LEN, "%s",
				 facts->gone ? "end not seen" : "in flight");
			break;
		}
		/* fall through */
	case REASON_FLUSH:
	case REASON_SLOW:
		if (facts->has_queue || facts->has_device)
			snprintf(text, REASON_TEXT_LEN, "slow %s", where);
		break;
	case REASON_CONGESTION:
		snprintf(text, REASON_TEXT_LEN, "%llu in flight",
			 (unsigned long long)facts->count);
		break;
	case REASON_UNSEEN:
		snprintf(text, REASON_TEXT_LEN, "end not seen");
		break;
	default:
		break;
	}
	return text;
}
