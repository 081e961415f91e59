#define _GNU_SOURCE
#include "hpcrun-lite/process/filter_settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/pinned.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/span/directive.h"

/* A code line of a text, and the list that it belongs to. */
struct code_range {
  struct filter_part module;
  enum filter_list list;
  uint64_t start, end;
};

/* What is allocated: all code lines, then what RT uses of them. */
struct lists {
  struct code_range *ranges;
  struct filter_code *code;
  struct filter_module *modules;
  size_t count;
};

static const char no_memory[] = "there is not enough memory for the filter";

static void *allocate(size_t count, size_t size)
{
  return sys_map((count + 1) * size);
}

/* ---- addresses ---- */

/* Counts or takes the code lines of a text. */
static size_t take_ranges(const char *text, struct code_range *ranges)
{
  struct filter_line line;
  struct filter_code_line code;
  size_t count = 0;
  while (filter_text_next(&text, &line)) {
    if (line.key != FILTER_KEY_CODE || !filter_text_code(line.value, &code))
      continue;
    static const enum filter_list lists[2][2] = {{FILTER_INCLUDED, FILTER_EXCLUDED},
                                                 {FILTER_INCLUDED_CONSTRUCTS, FILTER_EXCLUDED_CONSTRUCTS}};
    if (ranges)
      ranges[count] = (struct code_range){code.module, lists[code.construct][code.excludes], code.start, code.end};
    count++;
  }
  return count;
}

static int compare_parts(struct filter_part a, struct filter_part b)
{
  int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_ranges(const void *left, const void *right)
{
  const struct code_range *a = left, *b = right;
  int order = compare_parts(a->module, b->module);
  if (!order)
    order = (a->list > b->list) - (a->list < b->list);
  return order ? order : (a->start > b->start) - (a->start < b->start);
}

/* A sort that needs no memory: the C library's may call malloc(). */
static void sift(struct code_range *ranges, size_t at, size_t count)
{
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && compare_ranges(&ranges[child], &ranges[child + 1]) < 0)
      child++;
    if (compare_ranges(&ranges[at], &ranges[child]) >= 0)
      return;
    struct code_range kept = ranges[at];
    ranges[at] = ranges[child];
    ranges[child] = kept;
  }
}

static void sort_ranges(struct code_range *ranges, size_t count)
{
  for (size_t i = count / 2; i > 0; i--)
    sift(ranges, i - 1, count);
  for (size_t i = count; i > 1; i--) {
    struct code_range largest = ranges[0];
    ranges[0] = ranges[i - 1];
    ranges[i - 1] = largest;
    sift(ranges, 0, i - 1);
  }
}

/* Makes the modules and their lists; what overlaps is joined. */
static void make_lists(struct filter *filter, const struct lists *lists)
{
  uint32_t codes = 0;
  for (size_t i = 0; i < lists->count; i++) {
    const struct code_range *range = &lists->ranges[i];
    bool same = i && !compare_parts(range->module, lists->ranges[i - 1].module);
    if (!same)
      lists->modules[filter->known_count++].name = range->module;
    struct filter_module *module = &lists->modules[filter->known_count - 1];
    uint32_t *first = &module->lists[range->list].first, *count = &module->lists[range->list].count;
    struct filter_code *last = *count ? &lists->code[codes - 1] : NULL;
    if (last && range->start <= last->end) {
      last->end = range->end > last->end ? range->end : last->end;
      continue;
    }
    if (!*count)
      *first = codes;
    lists->code[codes++] = (struct filter_code){range->start, range->end};
    ++*count;
  }
  filter->code = lists->code;
  filter->known = lists->modules;
}

/* Reads the file that has further lines, as a text, into memory that stays.  NULL: it is not ours, or cannot be read as
 * a whole. */
static const char *read_further(struct filter_part path)
{
  char name[4096];
  struct stat status;
  snprintf(name, sizeof name, "%.*s", (int)path.length, path.text);
  int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char *text = NULL;
  bool ours =
      fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == geteuid();
  if (ours && (text = allocate((size_t)status.st_size, 1))) {
    size_t at = 0;
    for (ssize_t got; at < (size_t)status.st_size; at += (size_t)got)
      if ((got = pread(fd, text + at, (size_t)status.st_size - at, (off_t)at)) <= 0)
        break;
    if (at < (size_t)status.st_size) {
      sys_unmap(text, (size_t)status.st_size + 1);
      text = NULL;
    }
  }
  if (fd >= 0)
    close(fd);
  return text;
}

/* As make(). */
static const char *take_code(struct filter *filter, const char *text, const char *further)
{
  enum { MODULES_MAX = UINT16_MAX - 1 };
  size_t own_count = take_ranges(text, NULL);
  struct lists lists = {.count = own_count + (further ? take_ranges(further, NULL) : 0)};
  if (!lists.count)
    return NULL;
  lists.ranges = allocate(lists.count, sizeof *lists.ranges);
  lists.code = allocate(lists.count, sizeof *lists.code);
  lists.modules = allocate(lists.count, sizeof *lists.modules);
  if (!lists.ranges || !lists.code || !lists.modules || lists.count > UINT32_MAX)
    return no_memory;
  take_ranges(text, lists.ranges);
  if (further)
    take_ranges(further, lists.ranges + own_count);
  sort_ranges(lists.ranges, lists.count);
  make_lists(filter, &lists);
  sys_unmap(lists.ranges, (lists.count + 1) * sizeof *lists.ranges);
  return filter->known_count <= MODULES_MAX ? NULL : "the filter names code in too many modules";
}

/* ---- settings ---- */

/* Whether a list includes something, and does not only exclude. */
static bool includes(struct filter_part list)
{
  struct filter_item item;
  while (filter_list_item(&list, &item))
    if (!item.excludes)
      return true;
  return false;
}

static void take_constructs(struct filter *filter, struct filter_part list)
{
  struct filter_item item;
  filter->constructs = true;
  while (filter_list_item(&list, &item)) {
    int kind = filter_text_kind(item.part);
    uint32_t bits = kind < 0 ? 0 : 1u << kind;
    if (kind == FORMAT_DIRECTIVE_TASK) /* and where it runs */
      bits |= 1u << FORMAT_CONSTRUCT_TASK_EXEC;
    if (item.excludes)
      filter->kinds_excluded |= bits;
    else
      filter->kinds_included |= bits;
    filter->lines_included |= !item.excludes && kind < 0;
  }
}

/* Takes a line other than a code line. */
static void take_line(struct filter *filter, const struct filter_line *line)
{
  switch (line->key) {
  case FILTER_KEY_THREADS:
    filter->threads = line->value;
    break;
  case FILTER_KEY_SKIP_FIRST:
    filter->skip_first = line->value;
    break;
  case FILTER_KEY_ONLY:
    filter->only = line->value;
    break;
  case FILTER_KEY_REGIONS:
    filter->regions = line->value;
    filter->needs |= FORMAT_FILTERED_REGION;
    filter->paths = filter->constructs = true;
    break;
  case FILTER_KEY_MODULES:
    filter->modules = line->value;
    /* fall through */
  case FILTER_KEY_FUNCTIONS:
    filter->paths = true;
    filter->needs |= includes(line->value) ? FORMAT_FILTERED_CODE : 0;
    break;
  case FILTER_KEY_CONSTRUCTS:
    take_constructs(filter, line->value);
    break;
  default:
    break;
  }
}

/* Makes a filter from a text, which stays.  Returns NULL, or why the filter cannot be used. */
static const char *make(struct filter *filter, const char *text, const char *further)
{
  struct filter_line line;
  *filter = (struct filter){.text = text, .hash = filter_text_hash(text)};
  for (const char *at = text; filter_text_next(&at, &line);)
    take_line(filter, &line);
  filter->further = further;
  return take_code(filter, text, further);
}

bool filter_settings_apply(const char *text, char *message, size_t message_size)
{
  static struct filter made;
  struct filter_line line;
  const char *further = NULL;
  for (const char *at = text; filter_text_next(&at, &line);) {
    if (line.key != FILTER_KEY_CODE_FILE)
      continue;
    further = read_further(line.value);
    if (further)
      continue;
    snprintf(message, message_size, "filter: cannot read '%.*s'", (int)line.value.length, line.value.text);
    return false;
  }
  const char *reason = make(&made, text, further);
  atomic_store(&filter_current, &made);
  if (reason)
    snprintf(message, message_size, "%s", reason);
  return !reason;
}

/* ---- while the program runs ---- */

/* Whether each line is one that the commander writes; it has checked their values. */
static bool is_whole(const char *text)
{
  struct filter_line line;
  struct filter_code_line code;
  while (filter_text_next(&text, &line))
    if (line.key == FILTER_KEYS || line.key == FILTER_KEY_CODE_FILE || !line.value.length ||
        (line.key == FILTER_KEY_CODE && !filter_text_code(line.value, &code)))
      return false;
  return true;
}

/* Reads a text that can be used. */
static char *read_text(const char *path, uint64_t size, const char **reason)
{
  struct sys_own file;
  struct sys_facts facts;
  char *text = NULL;
  *reason = "its filter cannot be read";
  if (size > FILTER_FILE_MAX || pinned_find(path, &file))
    return NULL;
  if (sys_facts(&file, &facts) && !facts.shared && facts.size == size)
    text = allocate(size, 1);
  if (text && sys_read_at(&file, 0, text, size) && !memchr(text, 0, size))
    *reason = NULL;
  sys_close_own(&file);
  if (text && !*reason && !is_whole(text))
    *reason = "its filter is damaged";
  if (!text || !*reason)
    return text;
  sys_unmap(text, size + 1);
  return NULL;
}

struct filter *filter_settings_read(const char *path, uint64_t size, const char **reason)
{
  char *text = read_text(path, size, reason);
  if (!text)
    return NULL;
  struct filter *made = allocate(1, sizeof *made);
  *reason = made ? make(made, text, NULL) : no_memory;
  return *reason ? NULL : made;
}

struct filter_window filter_settings_window(const char *text)
{
  struct filter_window window = {0};
  struct filter_line line;
  while (filter_text_next(&text, &line))
    if (line.key == FILTER_KEY_SKIP_FIRST)
      filter_text_ns(line.value, &window.skip_ns);
    else if (line.key == FILTER_KEY_ONLY)
      filter_text_ns(line.value, &window.only_ns);
  return window;
}

/* ---- notes ---- */

/* A text that ends in "..." where there is no room; always with a NUL at its end. */
struct note {
  char *text;
  size_t at, size;
};

static void put(struct note *note, const char *text, size_t length)
{
  static const char more[] = "...";
  size_t room = note->size - note->at - 1;
  bool fits = length <= room;
  memcpy(note->text + note->at, text, fits ? length : room);
  note->at += fits ? length : room;
  note->text[note->at] = '\0';
  if (!fits && note->size > sizeof more)
    memcpy(note->text + note->size - sizeof more, more, sizeof more);
}

static void put_text(struct note *note, const char *text)
{
  put(note, text, strlen(text));
}

static void put_number(struct note *note, uint64_t number)
{
  char digits[24];
  size_t at = sizeof digits;
  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  put(note, digits + at, sizeof digits - at);
}

/* A time in the largest unit in which it is a whole number. */
static void put_time(struct note *note, uint64_t ns)
{
  static const struct {
    uint64_t ns;
    const char *name;
  } units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}, {1, " ns"}};
  unsigned unit = 0;
  while (ns % units[unit].ns)
    unit++;
  put_number(note, ns / units[unit].ns);
  put_text(note, units[unit].name);
}

/* A moment, to the millisecond. */
static void put_moment(struct note *note, uint64_t ns)
{
  put_number(note, ns / 1000000000);
  put_text(note, ".");
  for (uint64_t digit = 100000000; digit >= 1000000; digit /= 10)
    put_number(note, ns / digit % 10);
  put_text(note, " s");
}

/* What the user has set; false if that is nothing. */
static bool put_settings(struct note *note, const char *text)
{
  struct filter_line line;
  bool any = false;
  while (text && filter_text_next(&text, &line)) {
    uint64_t ns;
    bool time = line.key == FILTER_KEY_SKIP_FIRST || line.key == FILTER_KEY_ONLY;
    if (!filter_key_is_users(line.key) || (time && time_filter_failed()))
      continue;
    put_text(note, note->at ? "; " : "Filtered: ");
    any = true;
    if (time && filter_text_ns(line.value, &ns)) {
      put_text(note, line.key == FILTER_KEY_ONLY ? "only " : "skip-first ");
      put_time(note, ns);
    } else {
      put(note, line.whole.text, line.whole.length);
    }
  }
  return any;
}

/* until: the filter that followed; NULL: none. */
static void put_period(struct note *note, const struct filter *filter, const struct filter *until)
{
  if (filter->before) {
    put_text(note, " (from ");
    put_moment(note, filter->since_ns);
  }
  if (until) {
    put_text(note, filter->before ? " to " : " (until ");
    put_moment(note, until->since_ns);
  }
  if (filter->before || until)
    put_text(note, filter->before && !until ? " on)" : ")");
}

/* Whether a user region of that name has begun. */
static bool has_begun(struct filter_part name)
{
  const struct table *rows = directive_table();
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct format_directive *row = table_at(rows, i);
    if (row->kind == FORMAT_DIRECTIVE_USER_REGION && filter_list_is(name, table_at(modules_strings(), row->name)))
      return true;
  }
  return false;
}

static void put_missing(struct note *note, struct filter_part name, unsigned count)
{
  put_text(note, count ? ", " : "\nNot in the program: ");
  put(note, name.text, name.length);
}

/* The names that were not found; ended: so user regions that have not begun will not. */
static void put_all_missing(struct note *note, const struct filter *filter, bool ended)
{
  const char *const texts[] = {filter->text, filter->further};
  struct filter_part regions = ended ? filter->regions : (struct filter_part){0};
  struct filter_line line;
  struct filter_item item;
  unsigned count = 0;
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
    for (const char *at = texts[i]; at && filter_text_next(&at, &line);)
      if (line.key == FILTER_KEY_CODE_MISSING)
        put_missing(note, line.value, count++);
  while (filter_list_item(&regions, &item))
    if (!has_begun(item.part))
      put_missing(note, item.part, count++);
}

/* The filter that followed, of those up to `last`; NULL: none.  before NULL: the first.  Each knows only the one before
 * it. */
static const struct filter *filter_after(const struct filter *last, const struct filter *before)
{
  const struct filter *after = last == before ? NULL : last;
  while (after && after->before != before)
    after = after->before;
  return after;
}

void filter_settings_note(char *text, size_t size, bool ended)
{
  struct note note = {.text = text, .size = size};
  *text = '\0';
  const struct filter *next, *last = filter_now();
  for (const struct filter *filter = filter_after(last, NULL); filter; filter = next) {
    next = filter_after(last, filter);
    if (put_settings(&note, filter->text))
      put_period(&note, filter, next);
  }
  if (note.at)
    put_all_missing(&note, last, ended);
}

void filter_settings_record(void)
{
  static const char mark[] = "\nFiltered: ";
  static char text[4096], filtered[2048];
  struct format_process *record = atomic_load(&rt.record);
  if (!record)
    return;
  const char *notes = table_at(modules_strings(), record->notes), *end = strstr(notes, mark);
  struct note note = {.text = text, .size = sizeof text};
  put(&note, notes, end ? (size_t)(end - notes) : strlen(notes));
  filter_settings_note(filtered, sizeof filtered, false);
  put_text(&note, *filtered ? "\n" : "");
  put_text(&note, filtered);
  uint32_t string = modules_string(text);
  if (string)
    __atomic_store_n(&record->notes, string, __ATOMIC_RELEASE);
}
