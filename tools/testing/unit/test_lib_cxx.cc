// SPDX-License-Identifier: GPL-2.0
/* The library from C++: compiles without a warning, links, reads a ring. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include <monad/storage_event.h>
#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

static int number;
static bool failed;

static void ok(bool pass, const char *what)
{
	std::printf("%sok %d - %s\n", pass ? "" : "not ", ++number, what);
	failed |= !pass;
}

int main()
{
	monad_event_ring_simple_config config{};
	monad_event_ring ring{};
	monad_event_iterator iter{};
	monad_event_descriptor event{};
	std::uint64_t value = 0;
	int fd = memfd_create("cxx", MFD_CLOEXEC);

	config.descriptors_shift = 10;
	config.payload_buf_shift = 21;
	config.content_type = MONAD_EVENT_CONTENT_TYPE_TEST;
	config.schema_hash = g_monad_test_event_schema_hash;
	ok(monad_event_ring_init_simple(&config, fd, 0, "cxx") == 0, "init_simple");
	ok(monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, MAP_POPULATE, fd, 0, "cxx") == 0,
	   "mmap");
	ok(monad_event_ring_init_iterator(&ring, &iter) == 0, "init_iterator");
	ok(monad_event_iterator_try_next(&iter, &event) == MONAD_EVENT_NOT_READY, "not ready");

	monad_event_recorder recorder{};
	std::uint64_t seqno = 0;
	std::uint8_t *payload = nullptr;
	ok(monad_event_ring_init_recorder(&ring, &recorder) == 0, "init_recorder");
	auto *reserved = monad_event_recorder_reserve(&recorder, sizeof(value), &seqno, &payload);
	ok(reserved && seqno == 1, "reserve");
	value = 4711;
	std::memcpy(payload, &value, sizeof(value));
	value = 0;
	reserved->event_type = MONAD_TEST_EVENT_VLT;
	monad_event_recorder_commit(reserved, seqno);
	ok(monad_event_iterator_try_next(&iter, &event) == MONAD_EVENT_SUCCESS, "an event");
	ok(event.event_type == MONAD_TEST_EVENT_VLT, "its type");
	ok(monad_event_ring_payload_memcpy(&ring, &event, &value, sizeof(value)) && value == 4711,
	   "its payload");
	ok(std::strcmp(
		   monad_event_lookup_metadata(ring.header->content_type, event.event_type)->c_name,
		   "VLT") == 0,
	   "its name");
	monad_event_ring_unmap(&ring);
	close(fd);
	std::printf("1..%d\n", number);
	return failed ? 1 : 0;
}
