// SPDX-License-Identifier: GPL-2.0
/* eventwatch.c in C++17: eventwatch-cc RING [CONTENT-TYPE [COUNT]] */
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

namespace {

void check(int err)
{
	if (err)
		throw std::runtime_error(monad_event_ring_get_last_error());
}

/* An open ring, read from one place on. */
class Reader {
public:
	explicit Reader(const char *name)
	{
		int fd;

		check(monad_event_ring_open_fd(name, &fd, nullptr, 0));
		int err = monad_event_ring_mmap(&ring_, PROT_READ, 0, fd, 0, name);
		if (!err)
			err = monad_event_waiter_init(&waiter_, fd);
		close(fd);
		if (!err)
			err = monad_event_ring_init_iterator(&ring_, &it_);
		if (err)
			release();
		check(err);
	}
	~Reader() { release(); }
	Reader(const Reader &) = delete;
	Reader &operator=(const Reader &) = delete;

	void check_content(const char *name) const
	{
		uint16_t type;

		check(monad_event_lookup_content_type(name, &type));
		/* Where the library does not know the layout, only the type can be compared. */
		const uint8_t *hash = monad_event_schema_hash(type);
		check(monad_event_ring_check_content_type(
			&ring_, static_cast<monad_event_content_type>(type),
			hash ? hash : ring_.header->schema_hash));
	}

	/* To where what the newest events are part of began. */
	void find_start()
	{
		const std::optional<unsigned int> flow = flow_index();
		monad_event_descriptor event;

		if (!flow)
			return;
		monad_event_iterator_set_seqno(&it_, monad_event_ring_last_seqno(&ring_) + 1);
		for (int i = 0; i < 1000; i++) {
			const auto result = monad_event_iterator_try_prev(&it_, &event);

			if (result == MONAD_EVENT_PREV_NOT_READY) {
				monad_event_iterator_set_seqno(&it_, it_.next_seqno - 1);
			} else if (result != MONAD_EVENT_PREV_SUCCESS) {
				return;
			} else if (event.content_ext[*flow]) {
				if (monad_event_iterator_seek_flow(&it_, &event, *flow, 0) ==
				    MONAD_EVENT_SEEK_GONE)
					std::fprintf(stderr, "the start is gone\n");
				return;
			}
		}
	}

	/* Calls @use(event) until it says false, 0, or until nothing can come any more, an errno. */
	template <typename Use> int watch(Use use)
	{
		std::array<monad_event_descriptor, 64> events;
		monad_event_iter_result result;

		for (;;) {
			const size_t n = monad_event_iterator_next_batch(&it_, events.data(),
									 events.size(), &result);

			for (size_t i = 0; i < n; i++) {
				if (events[i].event_type != MONAD_EVENT_NONE_EVENT_TYPE &&
				    !use(ring_, events[i]))
					return 0;
			}
			if (result == MONAD_EVENT_SUCCESS)
				continue;
			const uint64_t missed = result == MONAD_EVENT_GAP
							? monad_event_iterator_recover(&it_)
							: monad_event_iterator_recover_lapped(&it_);
			if (missed) {
				std::fprintf(stderr, "%" PRIu64 " events missed\n", missed);
				continue;
			}
			std::fflush(stdout);
			const int err = monad_event_waiter_wait(&waiter_, &it_, 1, -1);
			if (err && err != EINTR)
				return err;
		}
	}

private:
	void release()
	{
		monad_event_waiter_destroy(&waiter_);
		monad_event_ring_unmap(&ring_);
	}

	std::optional<unsigned int> flow_index() const
	{
		size_t count = 0;

		if (!monad_event_ring_schema_known(&ring_))
			return std::nullopt;
		const auto *tags = monad_event_flow_tags(ring_.header->content_type, &count);
		for (size_t i = 0; i < count; i++) {
			if (tags[i].is_seqno)
				return tags[i].index;
		}
		return std::nullopt;
	}

	monad_event_ring ring_{};
	monad_event_iterator it_{};
	monad_event_waiter waiter_{};
};

void print(const monad_event_ring &ring, const monad_event_descriptor &event)
{
	const auto *metadata = monad_event_ring_lookup_metadata(&ring, event.event_type);

	std::printf("%" PRIu64 ".%09" PRIu64 " %10" PRIu64 " ",
		    event.record_epoch_nanos / 1000000000, event.record_epoch_nanos % 1000000000,
		    event.seqno);
	if (metadata)
		std::printf("%s", metadata->c_name);
	else
		std::printf("type-%u", event.event_type);
	std::printf(" %u bytes\n", event.payload_size);
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc < 2) {
		std::fprintf(stderr, "usage: eventwatch-cc RING [CONTENT-TYPE [COUNT]]\n");
		return 2;
	}
	Reader reader(argv[1]);
	uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;

	if (argc > 2)
		reader.check_content(argv[2]);
	reader.find_start();
	const int err = reader.watch([&](const auto &ring, const auto &event) {
		print(ring, event);
		return --count != 0;
	});
	if (err)
		std::fprintf(stderr, "eventwatch-cc: %s\n", monad_event_ring_get_last_error());
	/* That nobody writes to it any more is no failure. */
	return std::fflush(stdout) || (err && err != ENODEV && err != EOWNERDEAD);
} catch (const std::exception &e) {
	std::fprintf(stderr, "eventwatch-cc: %s\n", e.what());
	return 1;
}
