// SPDX-License-Identifier: GPL-2.0
/* Pages of monad-storage report, of ring files, and where they are written to. */
#include <sys/stat.h>

#include "storage_rings.h"

static char page[1 << 20];

static void read_page(void)
{
	char path[PATH_MAX];
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/page", dir);
	file = fopen(path, "re");
	if (file) {
		len = fread(page, 1, sizeof(page) - 1, file);
		fclose(file);
	}
	page[len] = '\0';
}

/* Writes the page, to "page". */
static void make(const char *args)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -f page; $T report %s page 2>&1", args);
	eq_int(run(command), 0, "report %s", args);
	read_page();
	ok(strstr(page, "</body></html>\n"), "has an end");
}

#define has(text) ok(strstr(page, text), "it has: %s", text)
#define has_not(text) ok(!strstr(page, text), "it has not: %s", text)

static unsigned int pictures(void)
{
	unsigned int n = 0;

	for (const char *p = page; (p = strstr(p, "<svg ")); p++)
		n++;
	return n;
}

/* Somebody was put to sleep, as task @task saw it. */
static void put_throttle(struct image *image, uint64_t seqno, uint64_t time, uint32_t pid,
			 uint64_t pause_ns, uint32_t task)
{
	struct monad_storage_call call = {
		.dev_major = 8, .dev_minor = 1, .latency_ns = pause_ns, .bytes = 1 << 20,
		.task_id = task, .pid = pid, .tgid = pid, .op = MONAD_STORAGE_CALL_THROTTLE,
	};
	/* put_read() has events of another size at other places: these are behind them. */
	uint64_t payload = 1 << 20 | seqno * 256, slot = slot_offset(image, seqno);

	snprintf(call.comm, sizeof(call.comm), "w<%u>", pid);
	memcpy(image->map + image->payload_offset + payload, &call, sizeof(call));
	put_event(image, seqno, MONAD_STORAGE_DIRTY_THROTTLE, payload, sizeof(call));
	put(image, slot + 16, time, 8);
	put(image, slot + 32 + 8 * MONAD_STORAGE_TAG_DEVICE,
	    (8ULL << MONAD_STORAGE_TAG_MAJOR_SHIFT) | 1ULL << MONAD_STORAGE_TAG_DEVICE_SHIFT |
		    MONAD_STORAGE_CALL_THROTTLE, 8);
	put(image, slot + 32 + 8 * MONAD_STORAGE_TAG_LATENCY, pause_ns, 8);
	put_last_seqno(image, seqno);
	put_next_byte(image, payload + sizeof(call));
}

static void make_rings(void)
{
	struct image image;
	uint64_t seqno;

	create(&image);
	image_save(&image, dir, "empty");
	put_read(&image, 1, EPOCH, "sdx", "reader");
	image_save(&image, dir, "one");
	for (seqno = 2; seqno <= 50; seqno++)
		put_read(&image, seqno, EPOCH, "sdx", "reader");
	image_save(&image, dir, "instant");
	put(&image, slot_offset(&image, 50), 0, 8);
	image_save(&image, dir, "stalled");
	put_read(&image, 50, EPOCH, "sdx", "reader");
	/* A device's own flush; an hour later. */
	put_read(&image, 51, EPOCH + HOUR, "sdx", "");
	put(&image, slot_offset(&image, 51) + 8, MONAD_STORAGE_FLUSH_COMPLETE, 2);
	image_save(&image, dir, "flush");
	put_throttle(&image, 52, EPOCH + HOUR, 70, 10000000, 1);
	put_throttle(&image, 53, EPOCH + HOUR + 1000, 70, 10000000, 2);
	put_throttle(&image, 54, EPOCH + HOUR + 2000, 71, 4000000, 1);
	put_throttle(&image, 55, EPOCH + HOUR + 11000000, 70, 20000000, 1);
	image_save(&image, dir, "throttles");
	image_destroy(&image);
}

static void test_few(void)
{
	make("-r ./empty");
	has("<b>No operation ended in that time.</b>");
	has("<p>Nothing: no operation ended.</p>");
	has("All times are UTC.");
	eq_int(pictures(), 0, "no picture");
	make("-r ./one");
	ok(strstr(output, "1 operation in page"), "one");
	has("<b>1 operation, at 2023-11-14 22:13:20.000000 UTC.</b>");
	has(">operations per 100us</text>");
	has(">22:13:20.0000</text>");
	has("100us a column");
	has_not("operations per second");
	eq_int(pictures(), 1, "a picture");
	make("-r ./instant");
	has("<b>50 operations, at 2023-11-14 22:13:20.000000 UTC.</b>");
	has("<title>50: 1ms - 1.5ms</title>");
}

static void test_zone(void)
{
	eq_int(run("TZ='<-0330>3:30' $T report -r ./flush page"), 0, "elsewhere");
	read_page();
	has("from 2023-11-14 18:43:20 to 2023-11-14 19:43:20 UTC-03:30.");
	has(">2023-11-14, UTC-03:30</text>");
	has("All times are UTC-03:30, of the machine that wrote this page.");
	has(">18:50</text>");
	has_not("22:1");
}

static void test_flushes(void)
{
	make("-r ./instant");
	has_not("cache flush");
	make("-r ./flush");
	has("<td class=\"t\">cache flush</td>");
	has(" cache flush: the device was told");
}

static void test_writeback(void)
{
	make("-r ./flush");
	has("<h2>Writeback</h2>");
	has("This page cannot show who it was");
	has("This page cannot show how often that was for each disk");
	make("-r ./throttles");
	has_not("cannot show who it was");
	has("<td class=\"t\">w&lt;70&gt;</td><td>70</td><td>2</td><td>2M</td><td>30.0ms</td>"
	    "<td>20.0ms</td>");
	has("<td class=\"t\">w&lt;71&gt;</td><td>71</td><td>1</td><td>1M</td><td>4.00ms</td>");
	ok(strstr(page, "w&lt;70") < strstr(page, "w&lt;71"), "who slept longer comes first");
	has("50 operations");
	make("-r ./throttles -p 71");
	has_not("w&lt;70");
	has("w&lt;71");
	make("-r ./throttles --min-latency 15ms");
	has("<td>70</td><td>1</td><td>1M</td><td>20.0ms</td>");
	has_not("w&lt;71");
	make("-r ./throttles --until @1700000000");
	has("This page cannot show who it was");
	make("-r ./throttles -d 8:0");
	has("This page cannot show who it was");
	make("-r ./throttles -d 8:1");
	has("w&lt;71");
	make("-r ./throttles -o read");
	has("<p>Not asked for: it is no operation.</p>");
	has_not("w&lt;71");
}

static void test_file(void)
{
	eq_int(run("rm -f page; umask 022; $T report -r ./one page >/dev/null; stat -c %a page"), 0,
	       "a file");
	eq_str(output, "644\n", "is for all to read");
	eq_int(run("rm -f page; umask 077; $T report -r ./one page >/dev/null; stat -c %a page"), 0,
	       "with a umask");
	eq_str(output, "600\n", "for whom that leaves it");
	eq_int(run("chmod 640 page; echo before >page; $T report -r ./one page >/dev/null; "
		   "stat -c %a page; grep -c before page"), 1, "one that was there");
	eq_str(output, "640\n0\n", "is replaced, and for the same");
	eq_int(run("ln -sf page link; $T report -r ./empty link >/dev/null; readlink link; "
		   "grep -c '<b>No operation' page"), 0, "a link");
	eq_str(output, "page\n1\n", "stays one, to the new page");
	eq_int(run("$T report -r ./one - | tail -n 1"), 0, "standard output");
	eq_str(output, "</body></html>\n", "has the page, and nothing but the page");
	eq_int(run("mkfifo pipe; timeout 5 cat pipe | tail -n 1 & "
		   "$T report -r ./one pipe >/dev/null; wait; test -p pipe"), 0, "a pipe");
	eq_str(output, "</body></html>\n", "has it, and stays one");
	/* One of our own: what goes wrong here does not take the machine's. */
	if (run("mknod full c 1 7 2>/dev/null && : >full") == 0) {
		eq_int(run("$T report -r ./one full 2>&1; s=$?; test -c full && exit $s"), 1,
		       "a device stays what it is");
		ok(strstr(output, "writing full: No space left"), "and is full");
	} else {
		skip("no devices can be made here");
	}
	eq_int(run("$T report -r ./one . 2>&1"), 1, "a directory");
	ok(strstr(output, "writing .: Is a directory"), "is said");
	eq_int(run("ls -A | grep -c copy"), 1, "nothing is left beside them");
}

/* There is room for a part of the page; somebody does not wait for it. */
static void test_cut_short(void)
{
	eq_int(run("echo before >page; (ulimit -f 4; $T report -r ./flush page 2>&1); cat page"), 0,
	       "no room");
	ok(strstr(output, "writing page: File too large") && strstr(output, "\nbefore\n"),
	   "is said, and what was there stays");
	/* It waits a tenth of a second for an event that is never written. */
	eq_int(run("timeout -s INT 0.05 $T report -r ./stalled page; s=$?; cat page; exit $s"), 124,
	       "^C");
	eq_str(output, "before\n", "nor is it replaced by then");
	eq_int(run("ls -A | grep -c copy"), 1, "nothing is left beside it");
}

int main(int argc, char **argv)
{
	find_tool(argc > 0 ? argv[0] : NULL);
	make_rings();
	test_few();
	test_zone();
	test_flushes();
	test_writeback();
	test_file();
	test_cut_short();
	run("rm -rf ../$(basename $PWD)");
	return done_testing();
}
