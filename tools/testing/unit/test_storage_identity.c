// SPDX-License-Identifier: GPL-2.0
/* What tells one disk from another in the programs' tables. */
#include <string.h>
#include "tap.h"
#include "storage_state.h"

/* What becomes of the name that the kernel has in its 32 bytes. */
static void take(struct monad_storage_disk_name *name, const char *bytes)
{
	uint64_t word[4];
	bool ended = false;

	memcpy(word, bytes, sizeof(word));
	for (int i = 0; i < 4; i++)
		name->word[i] = ended ? 0 : monad_storage_name_word(word[i], &ended);
}

static void test_names(void)
{
	struct monad_storage_disk_name name, other;
	unsigned int wrong = 0, same = 0;
	char bytes[32], want[32];

	for (unsigned int length = 0; length < 32; length++) {
		memset(bytes, 0xff, sizeof(bytes));
		memset(want, 0, sizeof(want));
		for (unsigned int i = 0; i < length; i++)
			want[i] = (char)(i % 3 ? 0x80 + i : 1 + i);
		memcpy(bytes, want, length);
		bytes[length] = '\0';
		take(&name, bytes);
		wrong += memcmp(name.text, want, sizeof(want)) != 0;
	}
	eq_u64(wrong, 0, "names of 0 to 31 bytes, without what is behind them");
	take(&name, "sda\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a");
	take(&other, "sda\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	ok(!memcmp(&name, &other, sizeof(name)), "sda, as sd leaves it");

	for (unsigned int i = 0; i < 1000; i++) {
		memset(bytes, 0, sizeof(bytes));
		snprintf(bytes, sizeof(bytes), "nvme%un1", i);
		take(&name, bytes);
		for (unsigned int k = 0; k < i; k++) {
			memset(bytes, 0, sizeof(bytes));
			snprintf(bytes, sizeof(bytes), "nvme%un1", k);
			take(&other, bytes);
			same += monad_storage_name_bits(name.word) ==
				monad_storage_name_bits(other.word);
		}
	}
	ok(same < 3, "of 1000 names, hardly two have the same bits (%u have)", same);
	ok(monad_storage_name_bits(name.word) >> MONAD_STORAGE_NAME_BITS == 0, "no more bits");
}

static void test_keys(void)
{
	const uint32_t dev = 0xfffU << 20 | 0xfffff, name = (1U << MONAD_STORAGE_NAME_BITS) - 1;
	uint64_t key = MONAD_STORAGE_SERIES_KEY(dev, name, MONAD_STORAGE_OP_THROTTLE);

	eq_u64(MONAD_STORAGE_SERIES_DEV(key), dev, "a key has the device");
	eq_u64(MONAD_STORAGE_SERIES_NAME(key), name, "bits of the name");
	eq_u64(MONAD_STORAGE_SERIES_OP(key), MONAD_STORAGE_OP_THROTTLE, "and the operation");
	ok(MONAD_STORAGE_SERIES_DISK(key) ==
	   MONAD_STORAGE_SERIES_DISK(MONAD_STORAGE_SERIES_KEY(dev, name, 0)),
	   "the disk is the same for all operations");
	ok(MONAD_STORAGE_SERIES_KEY(0, 0, 0), "none is 0");
	key = MONAD_STORAGE_ERROR_KEY(65535, 4095);
	eq_u64(MONAD_STORAGE_ERROR_SERIES(key), 65535, "an error has its series");
	eq_u64(MONAD_STORAGE_ERROR_ERRNO(key), 4095, "and its number");
}

int main(void)
{
	test_names();
	test_keys();
	return done_testing();
}
