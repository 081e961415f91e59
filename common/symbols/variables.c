#include "common/symbols/variables.h"

#include "common/order.h"
#include "common/symbols/elf_segments.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t table_bytes_max = 1u << 30, steps_max = 1u << 26; /* bound the time that a hostile file takes */

/* What is looked for, sorted by address. */
struct place {
  struct variable *variable;
  const char *name; /* in the table that is read */
};

struct wanted {
  struct place *list;
  uint32_t count;
  uint64_t steps;
};

ORDER(by_address, struct place, COMPARE(x->variable->address, y->variable->address))

/* Reads a section into memory for free(); NULL if it is too large, or not in the file. */
static void *read_section(int fd, const Elf64_Shdr *section)
{
  uint8_t *bytes = NULL;
  if (section->sh_type == SHT_NOBITS || section->sh_size > table_bytes_max)
    return NULL;
  bytes = xmalloc(section->sh_size + 1);
  bytes[section->sh_size] = '\0'; /* ends the last name */
  if (elf_segments_read(fd, bytes, section->sh_size, section->sh_offset))
    return bytes;
  free(bytes);
  return NULL;
}

/* Takes the symbol for all addresses in it that have no name yet, or that of a larger variable. */
static void take_symbol(struct wanted *wanted, const Elf64_Sym *symbol, const char *name)
{
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  bool variable = (type == STT_OBJECT || type == STT_COMMON) && symbol->st_shndx != SHN_UNDEF && symbol->st_size;
  if (!variable || !*name)
    return;
  size_t i = FIRST_WHERE(k, wanted->count, wanted->list[k].variable->address >= symbol->st_value);
  for (; i < wanted->count && wanted->list[i].variable->address - symbol->st_value < symbol->st_size; i++) {
    struct place *place = &wanted->list[i];
    bool known = place->variable->name || place->name;
    wanted->steps++;
    if (known && place->variable->start >= symbol->st_value)
      continue;
    place->name = name;
    place->variable->start = symbol->st_value;
  }
}

static void read_symbols(int fd, const Elf64_Shdr *table, const Elf64_Shdr *strings, struct wanted *wanted)
{
  const Elf64_Sym *symbols = read_section(fd, table);
  const char *names = symbols ? read_section(fd, strings) : NULL;
  for (uint64_t i = 0; names && i < table->sh_size / sizeof *symbols && wanted->steps < steps_max; i++)
    if (symbols[i].st_name < strings->sh_size)
      take_symbol(wanted, &symbols[i], names + symbols[i].st_name);
  for (uint32_t i = 0; i < wanted->count; i++) {
    struct place *place = &wanted->list[i];
    if (!place->name)
      continue;
    free(place->variable->name);
    place->variable->name = xstrdup(place->name);
    place->name = NULL;
  }
  free((void *)symbols);
  free((void *)names);
}

static void read_tables(int fd, const Elf64_Ehdr *head, struct wanted *wanted)
{
  if (head->e_shentsize != sizeof(Elf64_Shdr))
    return;
  Elf64_Shdr *sections = xcalloc(head->e_shnum, sizeof *sections);
  unsigned tables = 0;
  if (elf_segments_read(fd, sections, head->e_shnum * sizeof *sections, head->e_shoff))
    for (unsigned i = 0; i < head->e_shnum && tables < 2; i++)
      if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
          sections[i].sh_link < head->e_shnum) {
        read_symbols(fd, &sections[i], &sections[sections[i].sh_link], wanted);
        tables++;
      }
  free(sections);
}

void variables_find(const char *path, struct variable *variables, uint32_t count)
{
  assert(variables || !count);
  Elf64_Ehdr head;
  struct wanted wanted = {.list = xcalloc(count, sizeof *wanted.list), .count = count};
  for (uint32_t i = 0; i < count; i++) {
    variables[i].name = NULL;
    wanted.list[i].variable = &variables[i];
  }
  qsort(wanted.list, count, sizeof *wanted.list, by_address);
  int fd = count ? elf_segments_open(path, &head) : -1;
  if (fd >= 0) {
    read_tables(fd, &head, &wanted);
    close(fd);
  }
  free(wanted.list);
}
