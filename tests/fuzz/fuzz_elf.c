/* A program's file as the report reads it (symbols_elf.c, symbols_table.c, bounds.c; for the target `dwarf` also
 * symbols_dwarf.c, symbols_entries.c, symbols_lines.c, symbols_summary.c), and as the launcher does
 * (launch/program/elf_facts.c). */
#include "tests/fuzz/fuzz.h"

#include "common/symbols/bounds.h"
#include "common/symbols/symbols.h"
#include "hpcrun-lite/launch/program/elf_facts.h"

#include <stdlib.h>
#include <string.h>

enum { OFFSETS = 64, CHAIN = 8 };

static void visit(void *context, const struct elf_symbol *symbol)
{
  size_t *sum = context;
  *sum += strlen(symbol->name) + strlen(symbol->version) + strlen(symbol->library);
}

static void launch(const char *path)
{
  struct elf_facts facts;
  size_t sum = 0;
  if (elf_facts_read(path, &facts) || strlen(facts.interpreter) >= sizeof facts.interpreter ||
      strlen(facts.debug_link) >= sizeof facts.debug_link || facts.build_id_size > sizeof facts.build_id)
    abort();
  elf_symbols_visit(path, NULL, visit, &sum);
}

static void look_up(const struct symbols *symbols, uint64_t offset)
{
  struct symbols_location places[CHAIN];
  int count = symbols_lookup(symbols, offset, places, CHAIN);
  size_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += (places[i].function ? strlen(places[i].function) : 0) + (places[i].file ? strlen(places[i].file) : 0) +
           (places[i].raw ? strlen(places[i].raw) : 0) + (places[i].decl_file ? strlen(places[i].decl_file) : 0);
  if (count > CHAIN || sum > 1 << 30)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *path, *root;
  if (!path) {
    path = fuzz_path("module.so");
    root = fuzz_path("debug");
  }
  fuzz_write("module.so", data, size);
  uint32_t offsets[OFFSETS], choice = fuzz_choice(data, size);
  for (uint32_t i = 0; i < OFFSETS; i++)
    offsets[i] = 0x1000 + i * 9;
  struct symbols_request request = {.path = path, .debug_root = root, .offsets = offsets};
  request.offset_count = choice % 2 ? OFFSETS : 0;
  struct symbols *symbols;
  char message[512];
  symbols_open(&request, &symbols, message, sizeof message);
  struct bounds *bounds = bounds_open(path);
  for (uint32_t i = 0; i < OFFSETS && symbols; i++) {
    look_up(symbols, offsets[i]);
    look_up(symbols, bounds_start(bounds, offsets[i]));
  }
  bounds_free(bounds);
  symbols_free(symbols);
  launch(path);
  return 0;
}
