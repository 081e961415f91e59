#include "tests/golden/golden_marks.h"

#include "tests/golden/golden_records.h"

#include <string.h>

/* Half a nanosecond is a tick, as in ticks_of_ms(). */
enum { START_TICKS = 1000000 };

static struct format_mark mark(uint32_t kind, uint64_t at_ms, uint32_t thread, const char *name)
{
  return (struct format_mark){.ticks = START_TICKS + ticks_of_ms(at_ms),
                              .thread = thread,
                              .kind = kind,
                              .name = name ? compose_string(&compose, name) : 0};
}

static void put_counts(uint32_t thread, const struct format_user_count *counts, uint32_t count)
{
  compose_extent(&compose, FORMAT_USER_COUNTS, thread, 0, count, sizeof *counts, counts);
}

static void begin(void)
{
  blame_begin(4000, "./marked", NULL);
  compose.process.wall_ns = ms(800);
  compose.process.start_ticks = START_TICKS;
  compose.process.tick_scale = UINT64_C(1) << 31;
}

/* Two threads: phases that tile 100 to 700 ms, marks between them, a counter in two contexts of each thread. */
static void marked(void)
{
  begin();
  uint32_t items = compose_string(&compose, "items"), bytes = compose_string(&compose, "bytes");
  uint32_t main_frame = frame_below(0, 0x1000), solve = frame_below(main_frame, 0x1100);
  charge(FORMAT_KIND_FRAME, solve, 0x2000, WORK, 20, 1, 1);
  put_counts(1,
             (const struct format_user_count[]){{.node = solve, .name = items, .count = 3, .sum = 60, .least = 10, .most = 30},
                                                {.node = main_frame, .name = items, .count = 1, .sum = 5, .least = 5, .most = 5},
                                                {.node = solve, .name = bytes, .count = 2, .sum = 1 << 20, .least = 0, .most = 1 << 20}},
             3);
  blame_thread(1, 800, 100, 0, 600);
  uint32_t body = region_body(link_to(solve), 0x1200);
  put_counts(2,
             (const struct format_user_count[]){{.node = body, .name = items, .count = 2, .sum = 7, .least = 3, .most = 4},
                                                {.node = body, .name = items, .count = 1, .sum = 1, .least = 1, .most = 1}},
             2);
  blame_thread(2, 600, 200, 0, 0);
  const struct format_mark marks[] = {mark(FORMAT_USER_PHASE, 100, 1, "setup"), mark(FORMAT_MARK, 150, 2, "grid, \"read\""),
                                      mark(FORMAT_USER_PHASE, 300, 1, "solve"), mark(FORMAT_MARK, 300, 1, "step"),
                                      mark(FORMAT_MARK, 400, 1, "step"),   mark(FORMAT_USER_PHASE, 500, 1, "output"),
                                      mark(FORMAT_USER_PHASE, 700, 1, NULL)};
  compose_extent(&compose, FORMAT_MARKS, 0, 0, sizeof marks / sizeof *marks, sizeof *marks, marks);
  compose_end(&compose);
  save("marked", 4000);
}

/* Marks out of order, before the start, of a kind, thread and name that do not exist; counts in a context and with a
 * name that do not exist, and too large a sum. */
static void marked_hostile(void)
{
  begin();
  uint32_t items = compose_string(&compose, "a\n\x1b[31mred\xff");
  uint32_t main_frame = frame_below(0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 20, 1, 1);
  put_counts(1,
             (const struct format_user_count[]){{.node = 9999, .name = items, .count = 1, .sum = 5, .least = 5, .most = 5},
                                                {.node = main_frame, .name = 77777, .count = 1, .sum = 5, .least = 5, .most = 5},
                                                {.node = main_frame, .name = items, .count = 1, .sum = UINT64_MAX - 1, .least = 9},
                                                {.node = main_frame, .name = items, .sum = 8}},
             4);
  blame_thread(1, 800, 100, 0, 600);
  struct format_mark marks[] = {mark(FORMAT_USER_PHASE, 500, 1, "late"), mark(FORMAT_USER_PHASE, 100, 99, "a\n\x1b[31mred\xff"),
                                mark(FORMAT_MARK, 1, 1, "kind"),    mark(FORMAT_MARK, 9000, 1, "after the end"),
                                mark(FORMAT_MARK, 1, 1, "name"),    mark(FORMAT_MARK, 1, 1, "before the start")};
  marks[2].kind = 7;
  marks[4].name = 88888;
  marks[5].ticks = 1;
  compose_extent(&compose, FORMAT_MARKS, 0, 0, sizeof marks / sizeof *marks, sizeof *marks, marks);
  compose_end(&compose);
  save("marked-hostile", 4000);
}

void golden_marks(void)
{
  marked();
  marked_hostile();
}
