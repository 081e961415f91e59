#include "hpcprof-lite/live/pages.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/live/cells.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/missing_cores.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  HEAD = 3, /* lines above a page */
  NARROW = 60,
  BAR_LINES = 5,     /* at most, of a bar with its legend and the kernel's line, but on narrow terminals */
  FIXED_LINES = 5,   /* of the summary: an empty one, three headings, how many threads are left out */
  THREADS_LEAST = 8, /* in the summary, of which more are shown where there is room */
  LINE = 1024
};

static const char *const titles[PAGES_VIEWS] = {"Summary", "Functions", "Contexts", "Threads"};

static const char help[] = "Keys\n"
                           "  1 or s      summary\n"
                           "  2 or f      functions by the time spent in them\n"
                           "  3 or c      calling contexts\n"
                           "  4 or t      threads\n"
                           "  r           sort by the last interval, or by the whole run\n"
                           "  arrows      scroll; also PageUp, PageDown, Home, End\n"
                           "  space       freeze the picture, and go on\n"
                           "  + and -     longer and shorter intervals, from 0.5 s to 60 s\n"
                           "  ?           this help, and back\n"
                           "  q           quit\n"
                           "Last: since the reading before. Run: since the start of the run.\n"
                           "Own time: work and overhead in a function itself; inclusive: also in what it\n"
                           "calls. %: share of the work and overhead of all threads.\n"
                           "Lock, Idle of functions and contexts: waiting of other threads that they\n"
                           "caused; of threads: how long the thread itself waited.\n"
                           "Reading takes at most 1 % of one core: intervals are at least 100 times\n"
                           "as long as the CPU time of a reading.\n";

/* ---- the lines around a page ---- */

static const char *state_of(const struct reading *reading)
{
  if (!reading || !reading->profile.processes_usable)
    return "waiting";
  if (reading->growing)
    return "running";
  if (reading->totals.copied)
    return "snapshot";
  return reading->totals.unfinished ? "ended (killed)" : "ended";
}

/* What is measured, for how long, and how often it is read. */
static void draw_title(const struct picture *picture, struct screen *screen)
{
  char text[LINE], line[LINE + TERMINAL_TEXT_MAX], directory[TERMINAL_TEXT_MAX], seconds[CELLS_TEXT];
  char elapsed[CELLS_TEXT + 4] = "", every[32] = "";
  const struct terminal *terminal = &screen->terminal;
  const struct reading *reading = picture->reading;
  if (reading && reading->profile.processes_usable) {
    cells_seconds(reading->elapsed_ns, seconds);
    snprintf(elapsed, sizeof elapsed, " %s s", seconds);
  }
  if (!*elapsed || reading->growing)
    snprintf(every, sizeof every, ", every %.3g s", picture->every_s);
  snprintf(text, sizeof text, ": %s%s%s%s", state_of(reading), elapsed, every, picture->frozen ? ", frozen" : "");
  terminal_fit(terminal, picture->directory, terminal_room(terminal, (unsigned)strlen(text)), directory);
  snprintf(line, sizeof line, "%s%s%s%s", terminal_bold(terminal), directory, text, terminal_plain(terminal));
  screen_set(screen, 0, line);
}

static void draw_processes(const struct picture *picture, struct screen *screen)
{
  char text[LINE], fitted[TERMINAL_TEXT_MAX];
  const struct reading *reading = picture->reading;
  if (!reading || !reading->profile.processes_usable)
    return;
  const struct totals *run = &reading->totals;
  char running[CELLS_TEXT + 16] = "", filter[200], filtered[256] = "";
  if (profile_filtered(&reading->profile, filter, sizeof filter))
    snprintf(filtered, sizeof filtered, ", filtered (%s)", filter);
  if (run->running && run->running != run->processes)
    snprintf(running, sizeof running, " (%" PRIu32 " running)", run->running);
  snprintf(text, sizeof text, "%" PRIu32 " process%s%s, %" PRIu32 " thread%s on %.200s%s: %.400s", run->processes,
           run->processes == 1 ? "" : "es", running, run->threads, terminal_plural(run->threads), run->hosts, filtered,
           run->command);
  terminal_cut(&screen->terminal, text, screen->terminal.width, fitted);
  screen_set(screen, 1, fitted);
}

/* The names of the pages; on a narrow terminal only the name of this one. */
static void draw_tabs(const struct picture *picture, struct screen *screen)
{
  assert(picture->view < PAGES_VIEWS || picture->help);
  const struct terminal *terminal = &screen->terminal;
  char line[LINE], tab[32];
  size_t length = 0;
  bool narrow = terminal->width < NARROW;
  for (unsigned i = 0; i < PAGES_VIEWS; i++) {
    bool here = i == picture->view && !picture->help;
    const char *name = here || !narrow ? titles[i] : "";
    snprintf(tab, sizeof tab, "%u%s%s", i + 1, *name ? " " : "", name);
    if (here)
      length += (size_t)snprintf(line + length, sizeof line - length, "%s[%s]%s ", terminal_bold(terminal), tab,
                                 terminal_plain(terminal));
    else
      length += (size_t)snprintf(line + length, sizeof line - length, " %s  ", tab);
  }
  bool of_interval = picture->of_interval && picture->reading && picture->reading->has_interval;
  const char *order = of_interval ? "r: by last interval" : "r: by whole run";
  if (narrow)
    order = of_interval ? "r: interval" : "r: run";
  snprintf(line + length, sizeof line - length, " %s", picture->help ? "help" : order);
  screen_set(screen, 2, line);
}

/* The last line: the rows that are shown, and the most important keys.  The line above it tells what went wrong. */
static void draw_foot(const struct picture *picture, struct screen *screen, unsigned rows, unsigned fit)
{
  assert(screen->rows > 1);
  char text[LINE], line[TERMINAL_TEXT_MAX + 32], fitted[TERMINAL_TEXT_MAX], where[64] = "";
  const struct terminal *terminal = &screen->terminal;
  if (rows > fit && fit)
    snprintf(where, sizeof where, "%u-%u of %u  ", picture->top + 1, MIN(picture->top + fit, rows), rows);
  snprintf(text, sizeof text, "%sq quit  ? help  1-4 page  r sort  space freeze  +/- interval", where);
  terminal_cut(terminal, text, terminal->width, fitted);
  snprintf(line, sizeof line, "%s%s%s", terminal_dim(terminal), fitted, terminal_plain(terminal));
  screen_set(screen, screen->rows - 1, line);
  if (!*picture->note)
    return;
  terminal_cut(terminal, picture->note, terminal->width, fitted);
  screen_set(screen, screen->rows - 2, fitted);
}

/* ---- pages of text ---- */

/* Prints what the kernel counted, in a line. */
static void print_kernel(const struct totals *totals, const struct terminal *terminal, FILE *stream)
{
  char text[LINE], fitted[TERMINAL_TEXT_MAX];
  uint64_t all_ns = model_sum(totals->user_cpu_ns, totals->system_cpu_ns);
  if (!totals->usage || !all_ns)
    return;
  snprintf(text, sizeof text,
           "Kernel %.0f %% of CPU time; page faults %" PRIu64 ", switches %" PRIu64 ", threads created %" PRIu64,
           100 * (double)totals->system_cpu_ns / (double)all_ns, totals->page_faults, totals->switches,
           totals->created);
  terminal_cut(terminal, text, terminal->width, fitted);
  fprintf(stream, "%s\n", fitted);
}

/* Prints why times are unreliable, each reason in a line.  Returns how many there are. */
static uint32_t print_missing_cores(const struct totals *totals, const struct terminal *terminal, FILE *stream)
{
  const struct totals_missing_cores missing = totals_missing_cores(totals);
  char text[MISSING_CORES_TEXT], line[MISSING_CORES_TEXT + 16], fitted[TERMINAL_TEXT_MAX];
  uint32_t lines = 0;
  for (unsigned part = 0; part < MISSING_CORES_PARTS; part++) {
    if (!missing_cores_text(&missing, part, "", text))
      continue;
    snprintf(line, sizeof line, "Unreliable: %s", text);
    terminal_cut(terminal, line, terminal->width, fitted);
    fprintf(stream, "%s%s%s\n", terminal_bold(terminal), fitted, terminal_plain(terminal));
    lines++;
  }
  return lines;
}

/* Prints where the time of the interval or of the run went. */
static void print_bar(const struct picture *picture, const struct terminal *terminal, FILE *stream, bool of_interval)
{
  assert(picture->reading && (!of_interval || picture->reading->has_interval));
  const struct reading *reading = picture->reading;
  const struct report report = {
      .stream = stream, .columns = &reading->columns, .totals = of_interval ? &reading->part_totals : &reading->totals};
  char seconds[CELLS_TEXT];
  uint64_t ns[TIMELINE_CATEGORIES];
  cells_seconds(of_interval ? reading->lasted_ns : reading->totals.elapsed_ns, seconds);
  fprintf(stream, "%s%s %s s%s", terminal_bold(terminal), of_interval ? "Last interval:" : "Whole run:", seconds,
          terminal_plain(terminal));
  if (!category_times(&report, ns)) {
    fprintf(stream, ": no samples\n");
    return;
  }
  putc('\n', stream);
  category_bar(&report, terminal);
  print_kernel(report.totals, terminal, stream);
}

/* fit: lines that are on the screen at once; more can be scrolled. */
static void print_summary(const struct picture *picture, const struct terminal *terminal, FILE *stream, unsigned fit)
{
  assert(picture->reading);
  const struct reading *reading = picture->reading;
  uint32_t rows = fit < 32 ? 5 : READING_HOT;
  if (fit < 24)
    rows = 3;
  uint32_t functions = MIN(reading->functions_count, rows), contexts = MIN(reading->hot_count, rows);
  uint32_t used = (reading->has_interval ? 2 : 1) * BAR_LINES + FIXED_LINES + functions + contexts;
  used += print_missing_cores(&reading->totals, terminal, stream);
  uint32_t threads = fit > used + THREADS_LEAST ? fit - used : THREADS_LEAST;
  if (reading->has_interval)
    print_bar(picture, terminal, stream, true);
  print_bar(picture, terminal, stream, false);
  putc('\n', stream);
  struct cells cells = {reading, terminal, stream, picture->of_interval && reading->has_interval, 0};
  cells.longest = cells_longest(&cells);
  cells_functions_heading(&cells);
  for (uint32_t i = 0; i < functions; i++)
    cells_function(&cells, i);
  cells_hot_heading(&cells);
  for (uint32_t i = 0; i < contexts; i++)
    cells_hot(&cells, i);
  cells_threads_heading(&cells);
  for (uint32_t i = 0; i < reading->threads_count && i < threads; i++)
    cells_thread(&cells, i);
  if (reading->threads_count > threads)
    fprintf(stream, "and %" PRIu32 " more: key 4\n", reading->threads_count - threads);
}

static void print_nothing(const struct picture *picture, const struct terminal *terminal, FILE *stream)
{
  const struct reading *reading = picture->reading;
  char text[LINE];
  if (reading && reading->files)
    snprintf(text, sizeof text, "Nothing can be read of %" PRIu32 " measurement file%s.", reading->files,
             terminal_plural(reading->files));
  else
    snprintf(text, sizeof text,
             "Waiting: '%.400s' holds no measurement so far. It appears with the first process that hpcrun-lite "
             "measures into it.",
             picture->directory);
  terminal_wrap(terminal, stream, "", "", text);
}

/* Sets the screen's lines to those of a text, from line picture->top on.  Returns how many the text has. */
static unsigned draw_text(struct picture *picture, struct screen *screen, const char *text, unsigned fit)
{
  unsigned lines = 0;
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
    lines++;
  unsigned most = lines > fit ? lines - fit : 0, number = 0;
  picture->top = MIN(picture->top, most);
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n', number++)
    if (number >= picture->top && number < picture->top + fit)
      screen_set(screen, HEAD + number - picture->top, at);
  return lines;
}

/* ---- pages of rows ---- */

static const struct {
  void (*heading)(const struct cells *cells);
  void (*row)(const struct cells *cells, uint32_t number);
} tables[PAGES_VIEWS] = {[PAGES_FUNCTIONS] = {cells_functions_heading, cells_function},
                         [PAGES_CONTEXTS] = {cells_contexts_heading, cells_context},
                         [PAGES_THREADS] = {cells_threads_heading, cells_thread}};

static uint32_t count_rows(const struct picture *picture)
{
  assert(picture->reading && picture->view < PAGES_VIEWS);
  const struct reading *reading = picture->reading;
  if (picture->view == PAGES_FUNCTIONS)
    return reading->functions_count;
  return picture->view == PAGES_CONTEXTS ? reading->contexts_count : reading->threads_count;
}

/* Prints the heading and the rows that are shown. */
static void print_table(struct picture *picture, const struct terminal *terminal, FILE *stream, unsigned fit)
{
  assert(picture->reading && tables[picture->view].heading);
  struct cells cells = {picture->reading, terminal, stream, picture->of_interval && picture->reading->has_interval, 0};
  cells.longest = cells_longest(&cells);
  uint32_t rows = count_rows(picture), most = rows > fit ? rows - fit : 0;
  picture->top = MIN(picture->top, most);
  tables[picture->view].heading(&cells);
  for (uint32_t i = picture->top; i < rows && i < picture->top + fit; i++)
    tables[picture->view].row(&cells, i);
}

unsigned pages_draw(struct picture *picture, struct screen *screen)
{
  char *text = NULL;
  size_t size = 0;
  unsigned used = HEAD + 1 + (*picture->note != 0), fit = screen->rows > used ? screen->rows - used : 0;
  bool any = picture->reading && picture->reading->profile.processes_usable;
  bool table = any && !picture->help && picture->view != PAGES_SUMMARY;
  FILE *stream = xopen_memstream(&text, &size);
  fit -= fit && table;
  if (picture->help)
    terminal_lines(&screen->terminal, stream, help);
  else if (!any)
    print_nothing(picture, &screen->terminal, stream);
  else if (table)
    print_table(picture, &screen->terminal, stream, fit);
  else
    print_summary(picture, &screen->terminal, stream, fit);
  xclose(stream, &text);
  unsigned top = picture->top;
  if (table)
    picture->top = 0;
  unsigned rows = draw_text(picture, screen, text, fit + table);
  if (table) {
    rows = count_rows(picture);
    picture->top = top;
  }
  draw_title(picture, screen);
  draw_processes(picture, screen);
  draw_tabs(picture, screen);
  draw_foot(picture, screen, rows, fit);
  free(text);
  return fit;
}
