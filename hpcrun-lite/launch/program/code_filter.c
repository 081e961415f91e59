#define _GNU_SOURCE
#include "hpcrun-lite/launch/program/code_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/filter_text.h"
#include "common/hash.h"
#include "common/safe_file.h"
#include "common/pattern.h"
#include "common/xalloc.h"
#include "common/symbols/symbols_names.h"
#include "hpcrun-lite/launch/program/code_symbols.h"

/* One string of the environment holds 128 KiB, all of it a part of the limit of the stack. */
enum { TEXT_MAX = 32 << 10, ITEMS_MAX = 1024 };

/* A pattern of functions, or a source line. */
struct item {
  struct filter_item from;
  struct filter_part file;
  uint32_t line; /* 0: functions */
  bool found;
};

/* An open interval of a sort. */
struct interval {
  uint64_t from, to;
};

enum { SORTS = 4 }; /* bits: excludes, construct */

/* The names of one function. */
struct names {
  const char *texts[6];
  size_t count, rooms;
  char base[SYMBOLS_NAME_MAX], room[3][SYMBOLS_NAME_MAX];
};

struct resolver {
  struct names names;
  struct item items[ITEMS_MAX];
  size_t count;
  const char *module; /* base name */
  struct interval open[SORTS];
  FILE *out;
};

/* ---- what is looked for ---- */

static bool add_item(struct resolver *resolver, const struct filter_item *from, bool line)
{
  struct item item = {.from = *from};
  if (line && filter_text_kind(from->part) >= 0)
    return true;
  if (line)
    filter_text_line(from->part, &item.file, &item.line);
  if (resolver->count == ITEMS_MAX)
    return false;
  resolver->items[resolver->count++] = item;
  return true;
}

static bool collect(struct resolver *resolver, const char *filter)
{
  struct filter_line line;
  struct filter_item item;
  bool room = true;
  while (filter_text_next(&filter, &line))
    if (line.key == FILTER_KEY_FUNCTIONS || line.key == FILTER_KEY_CONSTRUCTS)
      while (room && filter_list_item(&line.value, &item))
        room = add_item(resolver, &item, line.key == FILTER_KEY_CONSTRUCTS);
  return room;
}

/* Adds a name and its form without scopes and parameters to `names`. */
static void add_name(struct names *names, const char *name)
{
  if (!name)
    return;
  names->texts[names->count++] = name;
  char *plain = names->room[names->rooms];
  if (symbols_plain(name, plain, sizeof names->room[0])) {
    names->texts[names->count++] = plain;
    names->rooms++;
  }
}

/* What a pattern may match: the readable name with or without scopes and parameters, the linkage name, or the name of
 * the function of which the compiler has made this part a function of its own. */
static void find_names(struct names *names, const struct symbols_location *place)
{
  const char *raw = place->raw ? place->raw : place->function;
  names->count = names->rooms = 0;
  add_name(names, place->function);
  add_name(names, place->raw);
  if (symbols_outlined(raw, names->base, sizeof names->base) != SYMBOLS_ORDINARY && *names->base)
    add_name(names, names->base);
}

static bool matches_function(struct filter_part pattern, const struct names *names)
{
  for (size_t i = 0; i < names->count; i++)
    if (pattern_matches(pattern.text, pattern.length, names->texts[i]))
      return true;
  return false;
}

static bool matches_line(const struct item *item, const struct symbols_location *place)
{
  size_t length = place->file ? strlen(place->file) : 0;
  if (length < item->file.length || place->line != item->line)
    return false;
  const char *end = place->file + length - item->file.length;
  return !memcmp(end, item->file.text, item->file.length) && (end == place->file || end[-1] == '/');
}

/* ---- a module ---- */

static void end_interval(struct resolver *resolver, unsigned sort)
{
  const struct interval *open = &resolver->open[sort];
  if (open->to)
    fprintf(resolver->out, "code %s 0x%" PRIx64 " 0x%" PRIx64 " %s %s\n", resolver->module, open->from, open->to,
            sort & 1 ? "exclude" : "include", sort & 2 ? "construct" : "function");
  resolver->open[sort] = (struct interval){0};
}

/* Adds code of which the same is known to the intervals that it belongs to. */
static void visit(void *context, uint64_t from, uint64_t to, const struct symbols_location *places, int count)
{
  struct resolver *resolver = context;
  bool found[SORTS] = {false};
  for (int place = 0; place < count; place++) {
    find_names(&resolver->names, &places[place]);
    for (size_t i = 0; i < resolver->count; i++) {
      struct item *item = &resolver->items[i];
      unsigned sort = (item->from.excludes ? 1 : 0) | (item->line ? 2 : 0);
      if (found[sort] && item->found)
        continue;
      bool matches;
      if (item->line)
        matches = place == count - 1 && matches_line(item, &places[place]);
      else
        matches = matches_function(item->from.part, &resolver->names);
      if (matches)
        found[sort] = item->found = true;
    }
  }
  for (unsigned sort = 0; sort < SORTS; sort++) {
    struct interval *open = &resolver->open[sort];
    if (!found[sort])
      continue;
    if (open->to == from && from) {
      open->to = to;
      continue;
    }
    end_interval(resolver, sort);
    *open = (struct interval){from, to};
  }
}

static void resolve_module(struct resolver *resolver, const struct code_symbols *code, const char *path)
{
  char message[512], *real = realpath(path, NULL);
  struct symbols *symbols;
  struct symbols_request request = {.path = real ? real : path};
  code->open(&request, &symbols, message, sizeof message); /* without names there is nothing to find */
  code->visit(symbols, visit, resolver);
  for (unsigned sort = 0; sort < SORTS; sort++)
    end_interval(resolver, sort);
  code->release(symbols);
  free(real);
}

/* Code of the OpenMP runtime and of libc is not part of paths, or is found by their names anyway. */
static void resolve_modules(struct resolver *resolver, const struct code_symbols *code, const struct program *program)
{
  for (size_t i = 0; i < program->module_count; i++) {
    const char *path = program->modules[i];
    char *real = i ? NULL : realpath(path, NULL); /* the process knows the program by its real path */
    resolver->module = path_base(real ? real : path);
    resolve_module(resolver, code, path);
    free(real);
  }
}

/* ---- the text ---- */

/* Writes the lines that the user has given. */
static void put_settings(FILE *out, const char *filter)
{
  struct filter_line line;
  while (filter_text_next(&filter, &line))
    if (filter_key_is_users(line.key)) /* the others are of a launch around this one */
      fprintf(out, "%.*s\n", (int)line.whole.length, line.whole.text);
}

/* The process with this executable needs no helper (hpcrun-lite/process/find_code.h). */
static void put_executable(FILE *out, const struct program *program)
{
  char *real = realpath(program->image, NULL);
  if (real)
    fprintf(out, "code-of %s\n", real);
  free(real);
}

static bool write_all(int fd, const char *text, size_t size)
{
  for (ssize_t done; size; text += done, size -= (size_t)done)
    if ((done = write(fd, text, size)) <= 0)
      return false;
  return true;
}

/* Writes the addresses to a file, which gets its name when it is complete: ranks of one job write the same one. */
static bool put_file(const char *path, const char *code, size_t size)
{
  char place[PATH_MAX + 64], part[NAME_MAX + 1];
  snprintf(place, sizeof place, "%s", path);
  char *slash = strrchr(place, '/');
  if (!slash)
    return false;
  *slash = '\0';
  const char *name = slash + 1;
  int directory = safe_file_open_directory(*place ? place : "/");
  snprintf(part, sizeof part, "%.200s.XXXXXX", name);
  int fd = directory < 0 ? -1 : safe_file_make(directory, part, 0);
  bool written = fd >= 0 && write_all(fd, code, size);
  written = fd >= 0 && close(fd) == 0 && written && renameat(directory, part, directory, name) == 0;
  if (!written && fd >= 0)
    unlinkat(directory, part, 0);
  if (directory >= 0)
    close(directory);
  return written;
}

static void warn_missing(const struct resolver *resolver, const struct program *program, char *message, size_t size)
{
  for (size_t i = 0; i < resolver->count; i++) {
    const struct item *item = &resolver->items[i];
    if (item->found)
      continue;
    const char *kind = "function",
               *reason = "it may be in one that is loaded while it runs, which a filter does not see";
    if (item->line) {
      kind = "line";
      reason = "are there debug data (-g), and code at that line?";
    }
    snprintf(message, size, "filter: %s '%.*s' is not in '%.300s' or its libraries: %s", kind,
             (int)item->from.part.length, item->from.part.text, program->path[0] ? program->path : "COMMAND", reason);
    return;
  }
}

/* Finds what the filter names, as lines of code in memory that the caller frees.  Returns the resolver, also to be
 * freed; NULL with a message: too many names, or they cannot be found. */
static struct resolver *resolve(const struct program *program, const char *filter, char **code, size_t *size,
                                char *message, size_t message_size)
{
  struct resolver *resolver = xcalloc(1, sizeof *resolver);
  const struct code_symbols *symbols = NULL;
  bool sound = collect(resolver, filter);
  if (!sound)
    snprintf(message, message_size, "filter: it names more than %d functions and lines; use patterns", ITEMS_MAX);
  else if (resolver->count)
    sound = (symbols = code_symbols_load(message, message_size));
  if (!sound) {
    free(resolver);
    return NULL;
  }
  resolver->out = xopen_memstream(code, size);
  if (resolver->count)
    resolve_modules(resolver, symbols, program);
  for (size_t i = 0; i < resolver->count; i++) {
    const struct item *item = &resolver->items[i];
    if (!item->found)
      fprintf(resolver->out, "code-missing %.*s\n", (int)item->from.part.length, item->from.part.text);
  }
  xclose(resolver->out, code);
  return resolver;
}

enum launch_status code_filter_find(const struct program *program, const char *filter, struct code_filter *found,
                                    char *message, size_t message_size)
{
  size_t length = 0;
  *found = (struct code_filter){0};
  message[0] = '\0';
  if (!filter_text_check(filter, message, message_size))
    return LAUNCH_FAILED;
  struct resolver *resolver = resolve(program, filter, &found->code, &found->code_size, message, message_size);
  if (!resolver)
    return LAUNCH_FAILED;
  FILE *out = xopen_memstream(&found->settings, &length);
  put_settings(out, filter);
  if (resolver->count)
    put_executable(out, program);
  xclose(out, &found->settings);
  warn_missing(resolver, program, message, message_size);
  free(resolver);
  return LAUNCH_OK;
}

/* The programs of one job have files of their own. */
char *code_filter_text(const struct code_filter *found, const char *directory, char *message, size_t message_size)
{
  char path[PATH_MAX + 64];
  if (!directory || found->code_size <= TEXT_MAX)
    return xasprintf("%s%.*s", found->settings, (int)found->code_size, found->code);
  snprintf(path, sizeof path, FILTER_CODE_FILE, directory, hash_bytes(HASH_START, found->code, found->code_size));
  if (!put_file(path, found->code, found->code_size)) {
    snprintf(message, message_size, "filter: cannot write '%.400s': %s; give another directory with -o", path,
             strerror(errno));
    return NULL;
  }
  return xasprintf("%scode-file %s\n", found->settings, path);
}

void code_filter_release(struct code_filter *found)
{
  free(found->settings);
  free(found->code);
  *found = (struct code_filter){0};
}

bool code_filter_write(const struct program *program, const char *filter, const char *path, char *message,
                       size_t message_size)
{
  char *code = NULL;
  size_t size = 0;
  struct resolver *resolver = filter_text_check(filter, message, message_size)
                                  ? resolve(program, filter, &code, &size, message, message_size)
                                  : NULL;
  bool written = resolver && put_file(path, code, size);
  if (resolver && !written)
    snprintf(message, message_size, "filter: cannot write '%.400s': %s", path, strerror(errno));
  free(code);
  free(resolver);
  return written;
}
