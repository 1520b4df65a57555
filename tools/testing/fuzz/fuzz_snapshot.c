// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots that are anything. The first byte of an input chooses: the rest is taken for
 * the bytes of a file; or for the beginning of a ring, which is compressed first in a way
 * that the input also chooses, and must then come out as it went in.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "fuzz_input.h"
#include "layout.h"
#include "snapshot_frame.h"

/* Enough for the smallest ring, and for what no run should take long for. */
#define MAX_SIZE (16UL << 20)
/* Too little for any. Most inputs have this limit, since a whole ring takes a while. */
#define MIN_SIZE (4UL << 20)
#define WHOLE_ONE_IN 24

static void use_ring(int fd)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	uint8_t copy[256];

	MUST(lseek(fd, 0, SEEK_CUR) == 0);
	MUST(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "fuzz") == 0);
	monad_event_ring_ext(&ring);
	monad_event_ring_snapshot_info(&ring);
	MUST(monad_event_ring_init_iterator(&ring, &iter) == 0);
	monad_event_iterator_seek_oldest(&iter);
	for (unsigned int steps = 0; steps < 2000; steps++) {
		enum monad_event_iter_result result = monad_event_iterator_try_next(&iter, &event);

		if (result == MONAD_EVENT_NOT_READY)
			break;
		if (result == MONAD_EVENT_GAP)
			monad_event_iterator_recover(&iter);
		else
			monad_event_iterator_payload_memcpy(&iter, &event, copy, sizeof(copy));
	}
	monad_event_ring_unmap(&ring);
}

static bool is_clean_error(int err)
{
	return err == EPROTO || err == ENOBUFS;
}

/* Any bytes: an error or a ring, and the same one from a file as from memory. */
static void read_bytes(const uint8_t *data, size_t size)
{
	int fd = -2, fd2 = -2, file = file_of(data, size);
	bool is_snapshot;
	const size_t max_size = one_in(WHOLE_ONE_IN, data, size) ? MAX_SIZE : MIN_SIZE;
	int err, err2;

	MUST(monad_event_is_snapshot_file(file, "fuzz", &is_snapshot) == 0);
	err = monad_event_decompress_snapshot_mem(size ? data : (const uint8_t *)"", size, max_size,
						  "fuzz", &fd);
	err2 = monad_event_decompress_snapshot_fd(file, max_size, "fuzz", &fd2);
	MUST(err == err2);
	if (err) {
		MUST(is_clean_error(err) && fd == -1 && fd2 == -1);
	} else {
		MUST(is_snapshot);
		use_ring(fd);
		close(fd);
		close(fd2);
	}
	close(file);
}

/* A ring that begins like this and goes on with zeroes: an error only if it is none. */
static void read_content(struct input *input)
{
	static uint8_t *content;
	const unsigned int how = (unsigned int)take(input, 1);
	const size_t missing = take(input, 1) % 32;
	struct frame_options options = {
		.level = (int)(how & 3) - 1,
		.checksum = how & 4,
		.no_size = how & 8,
		.window_log = how & 16 ? 17 : 0,
	};
	struct monad_event_ring_header header = {0};
	struct ring_layout layout;
	struct frame frame;
	size_t size, begin = input->left < MAX_SIZE / 2 ? input->left : MAX_SIZE / 2;
	const bool whole = one_in(WHOLE_ONE_IN, input->data, input->left);
	bool sound;
	int err, fd;

	if (!content)
		content = mmap(NULL, MAX_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	memcpy(content, input->data, begin);
	/* Half of the inputs need not find the words of a header first. */
	if (how & 32) {
		memcpy(content, "RING01", 6);
		header.size.descriptor_capacity = 1024 << (how >> 7);
		header.size.payload_buf_size = MIB2;
		memcpy(content + 40, &header.size, sizeof(header.size));
	}
	memcpy(&header, content, sizeof(header));
	sound = memcmp(header.magic, "RING01", 6) == 0 &&
		ring_layout_init(&layout, &header.size, "fuzz") == 0;
	size = sound && layout.total <= MAX_SIZE && whole ? layout.total - missing
								: begin;
	frame = frame_make(content, size, options);
	err = monad_event_decompress_snapshot_mem(frame.data, frame.size, MAX_SIZE, "fuzz", &fd);
	if (sound && size <= layout.total && size + 15 >= layout.total) {
		uint8_t *map;

		MUST(err == 0);
		map = mmap(NULL, layout.total, PROT_READ, MAP_SHARED, fd, 0);
		MUST(map != MAP_FAILED && memcmp(map, content, size) == 0);
		munmap(map, layout.total);
		use_ring(fd);
		close(fd);
	} else {
		MUST(is_clean_error(err) && fd == -1);
	}
	/* And damaged, where the input says so. */
	if (input->left > 3 && frame.size > 4 && how & 64) {
		frame.data[(input->data[0] | (size_t)input->data[1] << 8) % frame.size] ^=
			input->data[2] | 1;
		read_bytes(frame.data, frame.size - (input->data[2] & 1));
	}
	memset(content, 0, begin < 64 ? 64 : begin);
	frame_free(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (take(&input, 1) & 1)
		read_content(&input);
	else
		read_bytes(input.data, input.left);
	return 0;
}
