#include "hpcprof-lite/live/live.h"

#include "common/order.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/live/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Intervals that can be chosen, in s; the first one is that of the default. */
static const double intervals[] = {0.5, 1, 2, 5, 10, 30, 60};

enum {
  DEFAULT_INTERVAL = 1,
  COST_FACTOR = 100, /* intervals are so many times as long as the CPU time of a reading */
  LOOKUP_PARTS = 30, /* the CPU time for symbols is spread over the readings after it */
  MISSES_MAX = 2     /* readings that lack a process, after which it is given up */
};

struct live {
  struct reading_source source;
  struct screen screen;
  struct picture picture;
  struct keys keys;
  struct reading readings[2];
  unsigned current;   /* which of them is shown */
  unsigned chosen;    /* of intervals */
  unsigned page;      /* rows of a page */
  unsigned page_top;  /* picture.top of the page that the help covers */
  unsigned misses;    /* readings in a row that lacked a process */
  uint64_t read_ns;   /* when the last reading ended; CLOCK_MONOTONIC */
  uint64_t due_ns;    /* when the next one begins */
  uint64_t least_ns;  /* between them, because of what the last one cost */
  uint64_t lookup_ns; /* CPU time for symbols that is not spread so far */
  char *signature;    /* of the files, when nothing was growing; else NULL */
  char note[READING_NOTE];
  bool quit;
};

static struct live *the_view; /* for serve_keys(), to which nothing is passed */

/* ---- readings ---- */

/* Sets when the next reading begins.  Returns the time until then. */
static uint64_t plan_next(struct live *live)
{
  assert(live->chosen < sizeof intervals / sizeof *intervals);
  uint64_t wanted_ns = (uint64_t)(intervals[live->chosen] * 1e9);
  uint64_t length_ns = MAX(live->least_ns, wanted_ns);
  live->due_ns = live->read_ns + length_ns;
  live->picture.every_s = (double)length_ns / 1e9;
  return length_ns;
}

/* Takes account of what a reading has cost. */
static void settle_cost(struct live *live, uint64_t cpu_ns, uint64_t lookup_ns)
{
  uint64_t own_ns = cpu_ns - MIN(lookup_ns, cpu_ns);
  live->lookup_ns += lookup_ns;
  live->least_ns = COST_FACTOR * (own_ns + live->lookup_ns / LOOKUP_PARTS);
  live->read_ns = reading_now_ns();
  uint64_t paid_ns = plan_next(live) / COST_FACTOR - own_ns;
  live->lookup_ns -= MIN(paid_ns, live->lookup_ns);
}

/* Keeps the new reading, whose place is not the current one. */
static void keep(struct live *live)
{
  assert(live->current < 2);
  struct reading *old = &live->readings[live->current];
  live->current = !live->current;
  reading_release(old);
  kept_symbols_settle(&live->source.kept);
  live->picture.reading = &live->readings[live->current];
  snprintf(live->note, sizeof live->note, "%s", live->picture.reading->note);
  free(live->signature);
  live->signature = NULL;
  if (!live->picture.reading->growing)
    live->signature = reading_signature(&live->source);
}

/* Whether nothing grows any more, and no file has changed since. */
static bool is_unchanged(struct live *live)
{
  if (!live->signature)
    return false;
  char *now = reading_signature(&live->source);
  bool same = !strcmp(now, live->signature);
  free(now);
  return same;
}

/* Reads the measurement again.  Where a process cannot be read again, the picture stays as it is; if it still cannot
 * be read a little later, it is left out. */
static void read_again(struct live *live)
{
  assert(live->current < 2);
  struct reading *before = &live->readings[live->current], *next = &live->readings[!live->current];
  if (reading_take(&live->source, live->misses >= MISSES_MAX ? NULL : before, next)) {
    live->misses++;
    snprintf(live->note, sizeof live->note, "%s", next->note);
    reading_release(next);
    return;
  }
  if (live->misses >= MISSES_MAX && !*next->note)
    snprintf(next->note, sizeof next->note, "%s", "a process that could not be read again is left out");
  live->misses = 0;
  reading_sort(next, live->picture.of_interval);
  keep(live);
}

/* Reads the measurement if it is time to. */
static void refresh(struct live *live)
{
  uint64_t begin_ns = reading_cpu_ns(), lookup_ns = 0;
  if (live->picture.frozen || reading_now_ns() < live->due_ns)
    return;
  if (!is_unchanged(live)) {
    read_again(live);
    lookup_ns = live->readings[live->current].lookup_ns;
    live->readings[live->current].lookup_ns = 0;
  }
  settle_cost(live, reading_cpu_ns() - begin_ns, lookup_ns);
}

/* ---- keys ---- */

static void choose_page(struct live *live, enum pages_view view)
{
  assert(view < PAGES_VIEWS);
  live->picture.view = view;
  live->picture.help = false;
  live->picture.top = 0;
}

/* Shows the help, or again the page that it covers, where that was. */
static void switch_help(struct live *live)
{
  struct picture *picture = &live->picture;
  picture->help = !picture->help;
  if (picture->help) {
    live->page_top = picture->top;
    picture->top = 0;
  } else {
    picture->top = live->page_top;
  }
}

/* Longer or shorter intervals, from the last reading on. */
static void choose_interval(struct live *live, bool longer)
{
  unsigned count = sizeof intervals / sizeof *intervals;
  unsigned chosen = longer ? live->chosen + 1 : live->chosen - 1;
  if ((!longer && !live->chosen) || chosen >= count)
    return;
  live->chosen = chosen;
  plan_next(live);
}

static void scroll(struct live *live, int key)
{
  unsigned *top = &live->picture.top, page = live->page > 1 ? live->page - 1 : 1;
  switch (key) {
  case KEY_UP:
    *top -= *top > 0;
    break;
  case KEY_DOWN:
    *top += 1;
    break;
  case KEY_PAGE_UP:
    *top -= MIN(*top, page);
    break;
  case KEY_PAGE_DOWN:
    *top += page;
    break;
  case KEY_HOME:
    *top = 0;
    break;
  default:
    *top = UINT32_MAX / 2; /* it is limited when the page is drawn */
  }
}

static void switch_order(struct live *live)
{
  live->picture.of_interval = !live->picture.of_interval;
  if (live->picture.reading)
    reading_sort(&live->readings[live->current], live->picture.of_interval);
}

static void obey(struct live *live, int key)
{
  static const char pages[] = "sfct";
  const char *page = key > 0 && key < 256 ? strchr(pages, key) : NULL;
  if (key >= '1' && key < '1' + PAGES_VIEWS)
    choose_page(live, (enum pages_view)(key - '1'));
  else if (page)
    choose_page(live, (enum pages_view)(page - pages));
  else if (key == 'q')
    live->quit = true;
  else if (key == '?')
    switch_help(live);
  else if (key == ' ')
    live->picture.frozen = !live->picture.frozen;
  else if (key == '+' || key == '-')
    choose_interval(live, key == '+');
  else if (key == 'r')
    switch_order(live);
  else if (key >= KEY_UP && key <= KEY_END)
    scroll(live, key);
}

/* Waits at most so long for keys, and obeys them.  Returns their number. */
static int take_keys(struct live *live, unsigned milliseconds)
{
  char bytes[SCREEN_KEYS];
  int count = screen_wait(milliseconds, bytes);
  if (count < 0)
    live->quit = true;
  for (int i = 0; i < count && !live->quit; i++)
    obey(live, keys_take(&live->keys, bytes[i]));
  return count;
}

/* Waits until a key is pressed or the next reading is due. */
static void await(struct live *live)
{
  uint64_t wait_ns = model_difference(live->due_ns, reading_now_ns());
  take_keys(live, live->picture.frozen ? 3600000 : (unsigned)(wait_ns / 1000000) + 1);
}

static void draw(struct live *live)
{
  live->page = pages_draw(&live->picture, &live->screen);
  if (screen_show(&live->screen))
    live->quit = true;
}

/* Obeys keys while a reading lasts, for the picture of the reading before it.  What they do to the picture holds for
 * the next one, too.  Returns whether the reading is to go on. */
static bool serve_keys(uint32_t done, uint32_t all)
{
  assert(the_view);
  struct live *live = the_view;
  (void)done, (void)all;
  if (take_keys(live, 0) > 0 && live->picture.reading && !live->quit)
    draw(live);
  return !live->quit;
}

/* ---- the view ---- */

static int check_directories(const struct live_request *request, char *message, size_t size)
{
  for (size_t i = 0; i < request->directories_count; i++) {
    struct stat found;
    const char *directory = request->directories[i], *why = NULL;
    if (!stat(directory, &found) && !S_ISDIR(found.st_mode))
      why = "it is no directory; give one that hpcrun-lite measures into";
    else if (find_series(directory))
      why = "it is a series of runs; give the directory of one of them";
    if (!why)
      continue;
    snprintf(message, size, "cannot show '%.300s' live: %s", directory, why);
    return ERR_INPUT;
  }
  return 0;
}

int live_run(const struct live_request *request, char *message, size_t size)
{
  assert(request->directories_count && message && size);
  struct live live = {.source = {.directories = request->directories,
                                 .directories_count = request->directories_count,
                                 .baseline = request->baseline,
                                 .where = request->where,
                                 .between = serve_keys},
                      .picture = {.directory = request->directories[0], .view = request->view, .of_interval = true},
                      .chosen = DEFAULT_INTERVAL};
  if (check_directories(request, message, size))
    return ERR_INPUT;
  const char *why = screen_open(&live.screen);
  if (why) {
    snprintf(message, size, "%s", why);
    return ERR_INPUT;
  }
  live.picture.note = live.note;
  the_view = &live;
  screen_set(&live.screen, 0, "Reading ...");
  screen_show(&live.screen);
  while (!live.quit) {
    screen_changed(&live.screen);
    refresh(&live);
    if (!live.quit)
      draw(&live);
    if (!live.quit)
      await(&live);
  }
  screen_close(&live.screen);
  reading_release(&live.readings[0]);
  reading_release(&live.readings[1]);
  kept_symbols_release(&live.source.kept);
  free(live.signature);
  return 0;
}
