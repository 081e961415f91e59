#include "hpcprof-lite/symbols/symbols_lines.h"

#include <libdwarf/dwarf.h>

/* Reads the header of a line program: moves the cursor to its opcodes, and fills in the number of the first special
 * opcode and the operand counts of the standard ones.  False if it is damaged or not DWARF 5. */
static bool program_begin(struct symbols_bytes section, uint64_t offset, struct symbols_cursor *c, uint8_t *opcode_base,
                          const uint8_t **operand_counts)
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
  *opcode_base = (uint8_t)symbols_cursor_fixed(c, 1);
  *operand_counts = c->next;
  symbols_cursor_skip(c, *opcode_base ? *opcode_base - 1u : 0);
  if (c->bad || version != 5 || !*opcode_base)
    return false;
  *c = symbols_cursor_at(section, program, end);
  return !c->bad;
}

void symbols_default_files(struct symbols_bytes section, uint64_t offset, bool *chosen, size_t count)
{
  struct symbols_cursor c;
  const uint8_t *operand_counts;
  uint8_t opcode_base;
  bool file_chosen = false;
  if (!program_begin(section, offset, &c, &opcode_base, &operand_counts))
    return;
  for (size_t row = 0; row < count && !c.bad && symbols_cursor_left(&c);) {
    unsigned opcode = (unsigned)symbols_cursor_fixed(&c, 1);
    if (opcode >= opcode_base || opcode == DW_LNS_copy) {
      chosen[row++] = file_chosen;
    } else if (opcode == DW_LNS_fixed_advance_pc) {
      symbols_cursor_skip(&c, 2);
    } else if (opcode) {
      file_chosen = file_chosen || opcode == DW_LNS_set_file;
      for (unsigned i = 0; i < operand_counts[opcode - 1]; i++)
        symbols_cursor_uleb(&c);
    } else {
      uint64_t length = symbols_cursor_uleb(&c);
      if (length && symbols_cursor_left(&c) && *c.next == DW_LNE_end_sequence) {
        chosen[row++] = file_chosen;
        file_chosen = false;
      }
      symbols_cursor_skip(&c, length);
    }
  }
}
