/* Prints length and "atomic" of the instructions that lines of a file contain in hexadecimal. */
#include "common/symbols/instruction.c"

#include <stdio.h>

int main(int argc, char **argv)
{
  char line[128];
  FILE *file = fopen(argv[argc - 1], "r");
  while (file && fgets(line, sizeof line, file)) {
    uint8_t code[64];
    size_t size = 0;
    bool atomic;
    while (size < 32 && sscanf(line + 2 * size, "%2hhx", &code[size]) == 1)
      size++;
    memset(code + size, 0x90, sizeof code - size);
    unsigned length = instruction_length(EM_X86_64, code, size + 16, &atomic);
    printf("%u,%d\n", length, atomic);
  }
  return 0;
}
