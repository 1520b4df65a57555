// SPDX-License-Identifier: GPL-2.0
/* How much memory metrics take, and what is said of it when that is not enough. */
#include "tap.h"
#include "metrics_room.h"
#include "storage_state.h"

static bool is_power(unsigned int n)
{
	return n && !(n & (n - 1));
}

static bool is_sound(const struct metrics_room *room)
{
	return is_power(room->places) && room->places >= MONAD_STORAGE_WAYS &&
	       is_power(room->shards) && room->shards <= MONAD_STORAGE_MAX_SHARDS &&
	       room->series && room->series * TABLE_SPARE <= room->places;
}

static void test_few_disks(void)
{
	struct metrics_room room;

	metrics_room(&room, 0, 4, 4);
	eq_u64(room.left_out, 0, "4 disks: nothing is left out");
	eq_u64(room.series, 40, "6 operations each, and 16 more");
	eq_u64(room.places, 256, "four places for each, or more");
	eq_u64(room.shards, 4, "a shard for each of 4 CPUs");
	metrics_room(&room, 0, 4, 1024);
	eq_u64(room.shards, MONAD_STORAGE_MAX_SHARDS, "no more than there can be");
	metrics_room(&room, 0, 0, 1);
	ok(is_sound(&room), "no disk at all");
}

static void test_many_disks(void)
{
	bool sound = true, within = true, told = true;
	struct metrics_room room;

	metrics_room(&room, 0, 1000, 64);
	ok(metrics_room_bytes(&room) <= METRICS_ROOM_BYTES, "1000 disks: no more than 64 MiB");
	ok(metrics_room_bytes(&room) > METRICS_ROOM_BYTES / 2, "and not much less");
	eq_u64(room.series + room.left_out, 6016, "what has no room is told");
	ok(room.left_out, "there is some");
	eq_u64(room.shards, 1, "in one shard");
	for (unsigned int disks = 0; disks < 100000; disks += disks / 8 + 1) {
		for (unsigned int cpus = 1; cpus <= 512; cpus *= 2) {
			metrics_room(&room, 0, disks, cpus);
			sound &= is_sound(&room);
			within &= metrics_room_bytes(&room) <= METRICS_ROOM_BYTES;
			told &= room.series + room.left_out == 16 + 6 * disks;
		}
	}
	ok(sound, "any number of disks and CPUs: a table");
	ok(within, "of 64 MiB at most");
	ok(told, "and each that has no room is counted");
	metrics_room(&room, 0, ~0U, 1);
	ok(is_sound(&room), "more disks than can be counted");
}

static void test_asked_for(void)
{
	struct metrics_room room;

	metrics_room(&room, 16384, 2, 8);
	eq_u64(room.series, 16384, "asked for: as many as that");
	eq_u64(room.left_out, 0, "whatever it takes");
	ok(metrics_room_bytes(&room) > METRICS_ROOM_BYTES, "which is more than 64 MiB");
	eq_u64(room.shards, 1, "but for shards");
	metrics_room(&room, 8, 1000, 2);
	eq_u64(room.series, 8, "or as few");
	eq_u64(room.places, 32, "in a small table");
}

int main(void)
{
	test_few_disks();
	test_many_disks();
	test_asked_for();
	return done_testing();
}
