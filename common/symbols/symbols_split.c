#include "common/symbols/symbols_split.h"

#include "common/symbols/symbols_elf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_SIZE = 4096, PACKAGES = 2, COLUMNS_MAX = 16 };

/* ---- packages ---- */

/* The index of a package: a hash table from ids to rows, and for each row and column a part of a section.  See DWARF 5,
 * 7.3.5.3, and for version 2 the description of DebugFission. */
struct index {
  struct symbols_bytes bytes;
  uint32_t version, columns, rows, slots;
};

static bool index_open(struct index *index, struct symbols_bytes bytes)
{
  struct symbols_cursor c = symbols_cursor_at(bytes, 0, UINT64_MAX);
  *index = (struct index){.bytes = bytes, .version = (uint32_t)symbols_cursor_fixed(&c, 4) & 0xffff};
  index->columns = (uint32_t)symbols_cursor_fixed(&c, 4);
  index->rows = (uint32_t)symbols_cursor_fixed(&c, 4);
  index->slots = (uint32_t)symbols_cursor_fixed(&c, 4);
  return !c.bad && (index->version == 2 || index->version == 5) && index->columns && index->columns <= COLUMNS_MAX &&
         index->slots && !(index->slots & (index->slots - 1));
}

/* A number at an offset of the index, 0 beyond its end. */
static uint64_t index_number(const struct index *index, uint64_t offset, unsigned size)
{
  struct symbols_cursor c = symbols_cursor_at(index->bytes, offset, UINT64_MAX);
  return symbols_cursor_fixed(&c, size);
}

/* The row of an id, counted from 1; 0 if there is none. */
static uint32_t index_row(const struct index *index, uint64_t id)
{
  enum { HEADER = 16 };
  uint32_t mask = index->slots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
  for (uint32_t tries = 0; tries < index->slots; tries++, slot = (slot + step) & mask) {
    uint32_t row = (uint32_t)index_number(index, HEADER + 8ull * index->slots + 4ull * slot, 4);
    if (!row || index_number(index, HEADER + 8ull * slot, 8) == id)
      return row <= index->rows ? row : 0;
  }
  return 0;
}

/* The section whose parts a column describes; SYMBOLS_SECTIONS: none that is read. */
static enum symbols_section column_section(const struct index *index, uint64_t column)
{
  switch (column) {
  case 1:
    return SYMBOLS_INFO;
  case 3:
    return SYMBOLS_ABBREV;
  case 4:
    return SYMBOLS_LINE;
  case 6:
    return SYMBOLS_STR_OFFSETS;
  case 8:
    return index->version == 5 ? SYMBOLS_RNGLISTS : SYMBOLS_SECTIONS;
  default:
    return SYMBOLS_SECTIONS;
  }
}

/* Cuts a part out of a section; no bytes if it is not inside. */
static struct symbols_bytes part_of(struct symbols_bytes section, uint64_t offset, uint64_t size)
{
  if (offset > section.size || size > section.size - offset || !size)
    return (struct symbols_bytes){0};
  return (struct symbols_bytes){section.data + offset, size};
}

/* Fills in a unit's parts of a package's sections. */
static bool read_package(const struct symbols_package *package, uint64_t id,
                         struct symbols_bytes sections[SYMBOLS_SECTIONS])
{
  struct index index;
  uint32_t row = index_open(&index, package->index) ? index_row(&index, id) : 0;
  if (!row)
    return false;
  uint64_t columns = 16 + 12ull * index.slots, row_bytes = 4ull * index.columns;
  uint64_t offsets = columns + row * row_bytes, sizes = offsets + index.rows * row_bytes;
  for (uint32_t i = 0; i < index.columns; i++) {
    enum symbols_section section = column_section(&index, index_number(&index, columns + 4ull * i, 4));
    if (section != SYMBOLS_SECTIONS)
      sections[section] = part_of(package->sections[section], index_number(&index, offsets + 4ull * i, 4),
                                  index_number(&index, sizes + 4ull * i, 4));
  }
  sections[SYMBOLS_STR] = package->sections[SYMBOLS_STR];
  return sections[SYMBOLS_INFO].size > 0;
}

/* Opens a file and fills in its sections of split DWARF, which are read once.  Returns NULL if there is no such file.
 */
static struct symbols_elf *open_sections(const char *path, struct symbols_bytes sections[SYMBOLS_SECTIONS])
{
  char reason[PATH_SIZE + 128];
  struct symbols_elf *file = symbols_elf_open(path, reason, sizeof reason);
  for (int i = 0; file && i < SYMBOLS_SECTIONS; i++) {
    const char *name = symbols_split_section_name((enum symbols_section)i);
    sections[i] = *name ? symbols_elf_section(file, name, NULL) : (struct symbols_bytes){0};
  }
  return file;
}

/* The path of a package: that of a file with ".dwp" at its end.  False if there is none. */
static bool package_path(const char *file, char path[PATH_SIZE])
{
  int length = file ? snprintf(path, PATH_SIZE, "%s.dwp", file) : -1;
  return length > 0 && length < PATH_SIZE;
}

static void open_packages(struct symbols_split *split)
{
  const char *const files[PACKAGES] = {split->program, split->debug};
  char path[PATH_SIZE];
  split->opened = true;
  for (int i = 0; i < PACKAGES; i++) {
    struct symbols_package *package = &split->packages[i];
    struct symbols_elf *file = package_path(files[i], path) ? open_sections(path, package->sections) : NULL;
    if (file)
      package->index = symbols_elf_section(file, ".debug_cu_index", NULL);
    symbols_elf_detach(file);
  }
}

uint64_t symbols_split_bytes(const struct symbols_split *split)
{
  const char *const files[PACKAGES] = {split->program, split->debug};
  char path[PATH_SIZE];
  uint64_t bytes = 0;
  for (int i = 0; i < PACKAGES; i++)
    if (package_path(files[i], path))
      bytes += symbols_elf_stored_bytes(path);
  return bytes;
}

/* ---- files of one unit ---- */

/* The path of a .dwo file: as the compiler has written it, or in the module's directory with or without the directories
 * in its name, since programs are copied.  False if there is none. */
static bool unit_path(const struct symbols_split *split, const struct symbols_split_unit *unit, int way,
                      char path[PATH_SIZE])
{
  const char *slash = split->program ? strrchr(split->program, '/') : NULL, *base = strrchr(unit->name, '/');
  const char *directory = unit->directory ? unit->directory : "", *name = unit->name;
  int length = (int)strlen(directory);
  bool absolute = *name == '/';
  if (way > 0) {
    directory = slash ? split->program : ".";
    length = slash ? (int)(slash - split->program) : 1;
  }
  if (way == 1 && absolute)
    return false;
  if (way == 2)
    name = base ? base + 1 : name;
  if (way == 0 && (absolute || !length))
    length = snprintf(path, PATH_SIZE, "%s", name);
  else
    length = snprintf(path, PATH_SIZE, "%.*s/%s", length, directory, name);
  return length > 0 && length < PATH_SIZE;
}

static bool read_unit_file(const char *path, struct symbols_bytes sections[SYMBOLS_SECTIONS])
{
  symbols_elf_detach(open_sections(path, sections));
  return sections[SYMBOLS_INFO].size > 0;
}

bool symbols_split_find(struct symbols_split *split, const struct symbols_split_unit *unit, int place,
                        struct symbols_bytes sections[SYMBOLS_SECTIONS])
{
  assert(place >= 0 && place < SYMBOLS_SPLIT_PLACES);
  char path[PATH_SIZE];
  memset(sections, 0, SYMBOLS_SECTIONS * sizeof *sections);
  if (!split->opened)
    open_packages(split);
  if (place < PACKAGES)
    return read_package(&split->packages[place], unit->id, sections);
  return unit_path(split, unit, place - PACKAGES, path) && read_unit_file(path, sections);
}
