#include "hpcprof-lite/views/source/source_code.h"

#include "common/xalloc.h"
#include "common/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_MOST = 16 }; /* bytes of an instruction, or more */

/* What was spent at an address, and the block to which it belongs. */
struct spent {
  uint64_t weight;
  uint32_t module, block;
};

/* What threads spent in a context itself; at least 1 where they spent anything. */
static uint64_t context_weight(const struct source_request *request, uint32_t node)
{
  const struct tree_columns *columns = request->columns;
  uint32_t wanted[2] = {columns->work, columns->overhead};
  uint64_t weight = 0;
  if (!tree_has_time(columns)) {
    wanted[0] = columns->events_count ? columns->events[0] : columns->samples;
    wanted[1] = MODEL_NONE;
  }
  for (size_t i = 0; i < 2; i++)
    if (wanted[i] != MODEL_NONE)
      model_add(&weight, contexts_get(&request->profile->contexts, node, columns->source[wanted[i]]));
  return weight;
}

/* Sets spent[address]. */
static void gather(const struct source_request *request, const struct source_blocks *blocks, const uint32_t *block_of,
                   struct spent *spent)
{
  const struct contexts *contexts = &request->profile->contexts;
  for (uint32_t i = 0; i < contexts->count; i++) {
    uint32_t address = request->names->address_of[i], row = request->row_of[i];
    uint32_t line = row == MODEL_NONE ? MODEL_NONE : blocks->lines.line_of[row];
    if (contexts->nodes[i].kind != CONTEXT_FRAME || line == MODEL_NONE || block_of[line] == MODEL_NONE ||
        request->profile->catalog.modules[contexts->nodes[i].module].flags & (MODULE_RUNTIME | MODULE_TOOL))
      continue;
    model_add(&spent[address].weight, context_weight(request, i));
    spent[address].module = contexts->nodes[i].module;
    spent[address].block = block_of[line];
  }
}

/* Sets the symbol of the code if a disassembler finds it: in the symbol table of the module's own file. */
static void find_symbol(const struct names *names, struct source_code *code)
{
  const struct symbols *symbols = code->module == MODEL_NONE ? NULL : names->modules[code->module].symbols;
  unsigned flags = symbols ? symbols_flags(symbols) : 0;
  struct symbols_location place;
  if (!(flags & SYMBOLS_HAS_TABLE) || flags & SYMBOLS_SEPARATE)
    return;
  if (symbols_lookup(symbols, code->stop - INSTRUCTION_MOST, &place, 1) == 1)
    code->symbol = place.raw ? place.raw : place.function;
}

/* Sets the code of one block.  Addresses are in the order of modules and offsets. */
static void choose(const struct names *names, const struct spent *spent, uint32_t number, struct source_code *code)
{
  struct source_code here = {.module = MODEL_NONE};
  uint64_t most = 0, weight = 0, low = 0;
  for (uint32_t i = 0; i < names->addresses_count; i++) {
    const struct names_address *address = &names->addresses[i];
    if (!spent[i].weight || spent[i].block != number)
      continue;
    if (here.module != spent[i].module || low != address->low) {
      here = (struct source_code){.module = spent[i].module, .start = address->low ? address->low : address->offset};
      low = address->low;
      weight = 0;
    }
    here.stop = address->offset + INSTRUCTION_MOST;
    model_add(&weight, spent[i].weight);
    if (weight > most) {
      most = weight;
      *code = here;
    } else if (code->module == here.module && code->start == here.start) {
      code->stop = here.stop;
    }
  }
  find_symbol(names, code);
}

void source_code_find(const struct source_request *request, struct source_blocks *blocks)
{
  const struct names *names = request->names;
  uint32_t rows = blocks->lines.tree.count, *block_of = model_nones(rows);
  struct spent *spent = xcalloc(names->addresses_count, sizeof *spent);
  for (uint32_t i = 0; i < blocks->count; i++)
    for (uint32_t j = 0; j < blocks->blocks[i].count; j++) {
      uint32_t row = blocks->shown[blocks->blocks[i].first + j].row;
      if (row != MODEL_NONE)
        block_of[row] = i;
    }
  gather(request, blocks, block_of, spent);
  for (uint32_t i = 0; i < blocks->count; i++)
    choose(names, spent, i, &blocks->blocks[i].code);
  free(spent);
  free(block_of);
}
