// SPDX-License-Identifier: GPL-2.0
/*
 * A program of somebody else's, C and C++: it has what pkg-config and an installation give it,
 * and asks for no extensions. Makes a ring file, maps it, reads it, names what is wrong
 * with what is none.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/test_event_ctypes.h>

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, monad_event_ring_get_last_error());
	return 1;
}

int main(void)
{
	struct monad_event_ring_size size;
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	FILE *file = tmpfile();

	memset(&ring, 0, sizeof(ring));
	if (!file || monad_event_ring_init_size(10, 21, 0, &size) ||
	    ftruncate(fileno(file), (off_t)monad_event_ring_calc_storage(&size)))
		return fail("no file");
	if (!monad_event_ring_mmap(&ring, PROT_READ, 0, fileno(file), 0, "nothing"))
		return fail("an empty file was taken for a ring");
	if (monad_event_ring_init_file(&size, MONAD_EVENT_CONTENT_TYPE_TEST,
				       g_monad_test_event_schema_hash, fileno(file), 0, "test") ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, fileno(file), 0, "test") ||
	    monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_TEST,
						g_monad_test_event_schema_hash) ||
	    monad_event_ring_init_iterator(&ring, &iter))
		return fail("test");
	if (monad_event_iterator_try_next(&iter, &event) != MONAD_EVENT_NOT_READY ||
	    monad_event_iterator_lag(&iter) != 0)
		return fail("an event in an empty ring");
	monad_event_ring_unmap(&ring);
	fclose(file);
	printf("%s %s\n", monad_event_content_type_name(1),
	       monad_event_lookup_metadata(1, MONAD_TEST_EVENT_COUNTER)->c_name);
	return 0;
}
