#include "hpcprof-lite/input/generated_code.h"

#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/load.h"
#include "hpcprof-lite/input/read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES_MAX = 32 << 20, NAME_MAX_BYTES = 1024, OVERLAPS = 64 };

/* Code from start on; number: in the order of the map. */
struct code {
  uint64_t start, end;
  uint32_t number;
  const char *name;
};

struct generated_code {
  char *text;
  struct code *code; /* sorted by start, then number */
  size_t count, room;
};

ORDER(by_start, struct code, COMPARE(x->start, y->start) ?: COMPARE(x->number, y->number))

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
  if (map->count)
    qsort(map->code, map->count, sizeof *map->code, by_start);
  return bad;
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
  free(map->code);
  free(map);
}

const char *generated_code_name(const struct generated_code *map, uint64_t address)
{
  const struct code *best = NULL;
  if (!map)
    return NULL;
  size_t behind = FIRST_WHERE(i, map->count, map->code[i].start > address);
  for (size_t i = behind; i > 0 && behind - i < OVERLAPS; i--)
    if (address < map->code[i - 1].end && (!best || map->code[i - 1].number > best->number))
      best = &map->code[i - 1];
  return best ? best->name : NULL;
}
