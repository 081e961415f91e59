#define _GNU_SOURCE
#include "hpcrun-lite/process/filter_settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun-lite/rt/filter/filter.h"

/* A line of code, and the list that it belongs to. */
struct place {
  struct filter_part module;
  enum filter_list list;
  uint64_t start, end;
};

/* What is allocated: all lines of code, then what RT uses of them. */
struct lists {
  struct place *places;
  struct filter_code *code;
  struct filter_module *modules;
  size_t count;
};

/* Functions and lines that the executable does not have, separated by commas. */
static char missing[1024];

static void *allocate(size_t count, size_t size)
{
  void *memory = mmap(NULL, (count + 1) * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* ---- addresses ---- */

/* Counts or takes the lines of code of a text. */
static size_t take_places(const char *text, struct place *places)
{
  struct filter_line line;
  struct filter_code_line code;
  size_t count = 0;
  while (filter_text_next(&text, &line)) {
    if (line.key != FILTER_KEY_CODE || !filter_text_code(line.value, &code))
      continue;
    enum filter_list list = code.construct  ? code.excludes ? FILTER_EXCLUDED_CONSTRUCTS : FILTER_INCLUDED_CONSTRUCTS
                            : code.excludes ? FILTER_EXCLUDED
                                            : FILTER_INCLUDED;
    if (places)
      places[count] = (struct place){code.module, list, code.start, code.end};
    count++;
  }
  return count;
}

static int compare_parts(struct filter_part a, struct filter_part b)
{
  int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_places(const void *left, const void *right)
{
  const struct place *a = left, *b = right;
  int order = compare_parts(a->module, b->module);
  if (!order)
    order = (a->list > b->list) - (a->list < b->list);
  return order ? order : (a->start > b->start) - (a->start < b->start);
}

/* A sort that needs no memory: the C library's may call malloc(). */
static void sift(struct place *places, size_t at, size_t count)
{
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && compare_places(&places[child], &places[child + 1]) < 0)
      child++;
    if (compare_places(&places[at], &places[child]) >= 0)
      return;
    struct place kept = places[at];
    places[at] = places[child];
    places[child] = kept;
  }
}

static void sort_places(struct place *places, size_t count)
{
  for (size_t i = count / 2; i > 0; i--)
    sift(places, i - 1, count);
  for (size_t i = count; i > 1; i--) {
    struct place largest = places[0];
    places[0] = places[i - 1];
    places[i - 1] = largest;
    sift(places, 0, i - 1);
  }
}

/* Makes the modules and their lists; what overlaps is joined. */
static void make_lists(const struct lists *lists)
{
  uint32_t codes = 0;
  for (size_t i = 0; i < lists->count; i++) {
    const struct place *place = &lists->places[i];
    bool same = i && !compare_parts(place->module, lists->places[i - 1].module);
    if (!same)
      lists->modules[filter.known_count++].name = place->module;
    struct filter_module *module = &lists->modules[filter.known_count - 1];
    uint32_t *first = &module->lists[place->list].first, *count = &module->lists[place->list].count;
    struct filter_code *last = *count ? &lists->code[codes - 1] : NULL;
    if (last && place->start <= last->end) {
      last->end = place->end > last->end ? place->end : last->end;
      continue;
    }
    if (!*count)
      *first = codes;
    lists->code[codes++] = (struct filter_code){place->start, place->end};
    ++*count;
  }
  filter.code = lists->code;
  filter.known = lists->modules;
}

/* Maps the file that has further lines, as a text.  NULL: none, or it cannot be read. */
static const char *map_file(struct filter_part path)
{
  char name[4096];
  struct stat status;
  snprintf(name, sizeof name, "%.*s", (int)path.length, path.text);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  char *text = NULL;
  if (fd >= 0 && !fstat(fd, &status) && (text = allocate((size_t)status.st_size, 1))) {
    size_t at = 0;
    for (ssize_t got; at < (size_t)status.st_size; at += (size_t)got)
      if ((got = pread(fd, text + at, (size_t)status.st_size - at, (off_t)at)) <= 0)
        break;
    text[at] = '\0';
  }
  if (fd >= 0)
    close(fd);
  return text;
}

static bool take_code(const char *text, const char *further)
{
  enum { MODULES_MAX = UINT16_MAX - 1 };
  size_t inside = take_places(text, NULL);
  struct lists lists = {.count = inside + (further ? take_places(further, NULL) : 0)};
  if (!lists.count)
    return true;
  lists.places = allocate(lists.count, sizeof *lists.places);
  lists.code = allocate(lists.count, sizeof *lists.code);
  lists.modules = allocate(lists.count, sizeof *lists.modules);
  if (!lists.places || !lists.code || !lists.modules || lists.count > UINT32_MAX)
    return false;
  take_places(text, lists.places);
  if (further)
    take_places(further, lists.places + inside);
  sort_places(lists.places, lists.count);
  make_lists(&lists);
  munmap(lists.places, (lists.count + 1) * sizeof *lists.places);
  return filter.known_count <= MODULES_MAX;
}

/* ---- settings ---- */

/* Whether a list includes something, and does not only exclude. */
static bool includes(struct filter_part list)
{
  struct filter_item item;
  while (filter_text_item(&list, &item))
    if (!item.excludes)
      return true;
  return false;
}

static void take_constructs(struct filter_part list)
{
  struct filter_item item;
  filter.constructs = true;
  while (filter_text_item(&list, &item)) {
    int kind = filter_text_kind(item.part);
    uint32_t bits = kind < 0 ? 0 : 1u << kind;
    if (kind == FORMAT_DIRECTIVE_TASK) /* and where it runs */
      bits |= 1u << FORMAT_CONSTRUCT_TASK_EXEC;
    if (item.excludes)
      filter.kinds_excluded |= bits;
    else
      filter.kinds_included |= bits;
    filter.places_included |= !item.excludes && kind < 0;
  }
}

static void take_missing(const char *text)
{
  struct filter_line line;
  while (filter_text_next(&text, &line)) {
    size_t at = strlen(missing);
    if (line.key == FILTER_KEY_CODE_MISSING && at + line.value.length + 3 < sizeof missing)
      snprintf(missing + at, sizeof missing - at, "%s%.*s", at ? ", " : "", (int)line.value.length, line.value.text);
  }
}

bool filter_settings_apply(const char *text, char *message, size_t message_size)
{
  struct filter_line line;
  const char *further = NULL;
  filter = (struct filter){0};
  missing[0] = '\0';
  for (const char *at = text; filter_text_next(&at, &line);) {
    switch (line.key) {
    case FILTER_KEY_THREADS:
      filter.threads = line.value;
      break;
    case FILTER_KEY_REGIONS:
      filter.regions = line.value;
      filter.needs |= FORMAT_FILTERED_REGION;
      filter.paths = filter.constructs = true;
      break;
    case FILTER_KEY_MODULES:
      filter.modules = line.value;
      /* fall through */
    case FILTER_KEY_FUNCTIONS:
      filter.paths = true;
      filter.needs |= includes(line.value) ? FORMAT_FILTERED_CODE : 0;
      break;
    case FILTER_KEY_CONSTRUCTS:
      take_constructs(line.value);
      break;
    case FILTER_KEY_CODE_FILE:
      further = map_file(line.value);
      if (!further) {
        snprintf(message, message_size, "filter: cannot read '%.*s'", (int)line.value.length, line.value.text);
        return false;
      }
      break;
    default:
      break;
    }
  }
  take_missing(text);
  if (further)
    take_missing(further);
  if (take_code(text, further))
    return true;
  snprintf(message, message_size, "filter: not enough memory");
  return false;
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

/* A time in the largest unit in which it is a whole number. */
static int put_time(char *to, size_t size, uint64_t ns)
{
  static const struct {
    uint64_t ns;
    const char *name;
  } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
  unsigned unit = 0;
  while (ns % units[unit].ns)
    unit++;
  return snprintf(to, size, "%llu %s", (unsigned long long)(ns / units[unit].ns), units[unit].name);
}

void filter_settings_note(const char *text, char *note, size_t size)
{
  struct filter_line line;
  size_t at = 0;
  *note = '\0';
  while (filter_text_next(&text, &line) && at + 1 < size) {
    uint64_t ns;
    if (line.key >= FILTER_KEY_CODE)
      continue;
    at += (size_t)snprintf(note + at, size - at, "%s", at ? "; " : "Filtered: ");
    bool time = line.key == FILTER_KEY_SKIP_FIRST || line.key == FILTER_KEY_ONLY;
    if (at < size && time && filter_text_ns(line.value, &ns)) {
      at += (size_t)snprintf(note + at, size - at, "%s ", line.key == FILTER_KEY_ONLY ? "only" : "skip-first");
      at += at < size ? (size_t)put_time(note + at, size - at, ns) : 0;
    } else if (at < size) {
      at += (size_t)snprintf(note + at, size - at, "%.*s", (int)line.whole.length, line.whole.text);
    }
  }
  if (at && at < size && missing[0])
    snprintf(note + at, size - at, "\nNot in the program: %s", missing);
}
