#include "hpcprof-lite/symbols/symbols_lines.h"

#include <libdwarf/dwarf.h>

/* Skips a line program's header (DWARF 5) up to what its opcodes depend on; false if it is of another version. */
static bool program_begin(struct symbols_bytes section, uint64_t offset, struct symbols_cursor *c, uint8_t *opcodes,
                          const uint8_t **lengths)
{
  *c = symbols_cursor_at(section, offset, UINT64_MAX);
  uint64_t length = symbols_cursor_fixed(c, 4);
  unsigned size = length == UINT32_MAX ? 8 : 4;
  if (size == 8)
    length = symbols_cursor_fixed(c, 8);
  uint64_t end = (uint64_t)(c->next - section.data) + length;
  uint64_t version = symbols_cursor_fixed(c, 2);
  symbols_cursor_skip(c, 2);
  length = symbols_cursor_fixed(c, size);
  uint64_t program = (uint64_t)(c->next - section.data) + length;
  symbols_cursor_skip(c, 5);
  *opcodes = (uint8_t)symbols_cursor_fixed(c, 1);
  *lengths = c->next;
  symbols_cursor_skip(c, *opcodes ? *opcodes - 1u : 0);
  if (c->bad || version != 5 || !*opcodes)
    return false;
  *c = symbols_cursor_at(section, program, end);
  return !c->bad;
}

void symbols_default_files(struct symbols_bytes section, uint64_t offset, bool *chosen, size_t count)
{
  struct symbols_cursor c;
  const uint8_t *lengths;
  uint8_t opcodes;
  bool choice = false;
  if (!program_begin(section, offset, &c, &opcodes, &lengths))
    return;
  for (size_t row = 0; row < count && !c.bad && symbols_cursor_left(&c);) {
    unsigned opcode = (unsigned)symbols_cursor_fixed(&c, 1);
    if (opcode >= opcodes || opcode == DW_LNS_copy) {
      chosen[row++] = choice;
    } else if (opcode == DW_LNS_fixed_advance_pc) {
      symbols_cursor_skip(&c, 2);
    } else if (opcode) {
      choice = choice || opcode == DW_LNS_set_file;
      for (unsigned i = 0; i < lengths[opcode - 1]; i++)
        symbols_cursor_uleb(&c);
    } else {
      uint64_t length = symbols_cursor_uleb(&c);
      if (length && symbols_cursor_left(&c) && *c.next == DW_LNE_end_sequence) {
        chosen[row++] = choice;
        choice = false;
      }
      symbols_cursor_skip(&c, length);
    }
  }
}
