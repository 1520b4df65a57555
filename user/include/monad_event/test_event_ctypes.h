/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Events of content type TEST, for automated tests of rings. */
#ifndef MONAD_EVENT_TEST_EVENT_CTYPES_H
#define MONAD_EVENT_TEST_EVENT_CTYPES_H

#include <stdint.h>

#include <monad/event_ring.h>

enum monad_test_event_type {
	MONAD_TEST_EVENT_NONE = 0,
	MONAD_TEST_EVENT_RECORD_ERROR = 1,
	MONAD_TEST_EVENT_COUNTER = 2, /* struct monad_test_event_counter */
	MONAD_TEST_EVENT_VLT = 3,     /* bytes of any number */
	MONAD_TEST_EVENT_COUNT = 4,
};

struct monad_test_event_counter {
	uint8_t writer_id;
	uint64_t counter;
};

MONAD_EVENT_ASSERT_SIZE(struct monad_test_event_counter, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_test_event_counter, counter, 8);

#endif /* MONAD_EVENT_TEST_EVENT_CTYPES_H */
