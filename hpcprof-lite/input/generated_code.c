#include "hpcprof-lite/input/generated_code.h"

#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/load.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/heap.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES_MAX = 32 << 20, NAME_MAX_BYTES = 1024 };

/* Code from start on; number: in the order of the map. */
struct code {
  uint64_t start, end;
  uint32_t number;
  const char *name;
};

/* What was written last from start on, up to the next piece. */
struct piece {
  uint64_t start;
  const char *name; /* NULL: nothing is there */
};

struct generated_code {
  char *text;
  struct code *code; /* until there are pieces */
  size_t count, room;
  struct piece *pieces; /* sorted */
  size_t pieces_count;
};

ORDER(by_start, struct code, COMPARE(x->start, y->start))
ORDER(by_value, uint64_t, COMPARE(*x, *y))

/* Reads a hexadecimal number and the blank behind it.  False if there is none. */
static bool take_number(char **at, uint64_t *number)
{
  static const char digits[] = "0123456789abcdefABCDEF";
  if ((*at)[0] == '0' && (*at)[1] == 'x')
    *at += 2;
  size_t length = strspn(*at, digits);
  if (!length || length > 16 || (*at)[length] != ' ')
    return false;
  *number = strtoull(*at, NULL, 16);
  *at += length + 1;
  return true;
}

/* Adds the code of one line.  False if it is not valid. */
static bool add_line(struct generated_code *map, char *line)
{
  assert(line);
  struct code code = {.number = (uint32_t)map->count};
  uint64_t size;
  if (!take_number(&line, &code.start) || !take_number(&line, &size) || !*line || size > UINT64_MAX - code.start)
    return false;
  code.end = code.start + size;
  code.name = line;
  line[strnlen(line, NAME_MAX_BYTES)] = '\0';
  *XAPPEND(map->code, map->count, map->room) = code;
  return true;
}

/* Reads the text.  A last line without an end was being written.  Returns the number of lines that are not valid. */
static unsigned parse(struct generated_code *map)
{
  unsigned bad = 0;
  char *line = map->text;
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    bad += !add_line(map, line);
  }
  return bad;
}

static bool written_later(const void *context, uint32_t a, uint32_t b)
{
  const struct code *code = context;
  return code[a].number > code[b].number;
}

/* Turns the code into pieces, from one start or end of code to the next one. */
static void make_pieces(struct generated_code *map)
{
  assert(map->count);
  struct code *code = map->code;
  struct heap covering = {.items = xcalloc(map->count, sizeof *covering.items)};
  uint64_t *limits = xcalloc(2 * map->count, sizeof *limits);
  map->pieces = xcalloc(2 * map->count, sizeof *map->pieces);
  qsort(code, map->count, sizeof *code, by_start);
  for (size_t i = 0; i < map->count; i++) {
    limits[2 * i] = code[i].start;
    limits[2 * i + 1] = code[i].end;
  }
  qsort(limits, 2 * map->count, sizeof *limits, by_value);
  uint32_t next = 0;
  for (size_t i = 0; i < 2 * map->count; i++) {
    while (next < map->count && code[next].start == limits[i])
      heap_push(&covering, next++, written_later, code);
    while (covering.count && code[covering.items[0]].end <= limits[i])
      heap_next(&covering, false, written_later, code);
    if (!i || limits[i] != limits[i - 1])
      map->pieces[map->pieces_count++] =
          (struct piece){limits[i], covering.count ? code[covering.items[0]].name : NULL};
  }
  free(limits);
  free(covering.items);
  free(code);
  map->code = NULL;
}

struct generated_code *generated_code_read(const char *path, struct problems *problems)
{
  struct load load = {0};
  char *name = xasprintf("%.*s" FORMAT_PERF_MAP_SUFFIX, (int)read_stem(path), path);
  struct generated_code *map = NULL;
  if (access(name, F_OK) == 0 && load_file(&load, name, problems) == 0) {
    if (load.size > BYTES_MAX)
      problems_add(problems, "%s: larger than %d bytes: the names of generated code are left out", name, BYTES_MAX);
    else {
      map = xcalloc(1, sizeof *map);
      map->text = xmalloc(load.size + 1);
      memcpy(map->text, load.bytes, load.size);
      map->text[load.size] = '\0';
      unsigned bad = parse(map);
      if (map->count)
        make_pieces(map);
      if (bad)
        problems_add(problems, "%s: lines that do not have the form START SIZE NAME, left out: %u", name, bad);
    }
  }
  load_release(&load);
  free(name);
  return map;
}

void generated_code_free(struct generated_code *map)
{
  if (!map)
    return;
  free(map->text);
  free(map->pieces);
  free(map);
}

const char *generated_code_name(const struct generated_code *map, uint64_t address)
{
  if (!map)
    return NULL;
  size_t behind = FIRST_WHERE(i, map->pieces_count, map->pieces[i].start > address);
  return behind ? map->pieces[behind - 1].name : NULL;
}
