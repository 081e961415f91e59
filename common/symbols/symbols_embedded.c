#define _GNU_SOURCE
#include "common/symbols/symbols_embedded.h"

#include <lzma.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RATIO_MAX = 256 }; /* more is damaged: symbol tables shrink to a tenth */

#define MEMORY_MAX_BYTES (256ull << 20) /* of the decoder; "xz -9" needs 65 MB */

/* Writes the decompressed bytes to a file.  Returns NULL, or why that failed. */
static const char *decompress(struct symbols_bytes packed, int to)
{
  lzma_stream stream = LZMA_STREAM_INIT;
  uint8_t block[16384];
  lzma_ret result = lzma_stream_decoder(&stream, MEMORY_MAX_BYTES, LZMA_CONCATENATED);
  const char *fault = NULL;
  stream.next_in = packed.data;
  stream.avail_in = packed.size;
  while (result == LZMA_OK && !fault) {
    stream.next_out = block;
    stream.avail_out = sizeof block;
    result = lzma_code(&stream, LZMA_FINISH);
    size_t size = sizeof block - stream.avail_out;
    if (stream.total_out / RATIO_MAX > packed.size)
      fault = "expands to too much data";
    else if (write(to, block, size) != (ssize_t)size)
      fault = "cannot be read: not enough memory";
  }
  lzma_end(&stream);
  if (!fault && result != LZMA_STREAM_END)
    fault = "cannot be decompressed";
  return fault;
}

struct symbols_elf *symbols_embedded_open(struct symbols_elf *outer, const char **fault)
{
  char path[64], reason[256];
  struct symbols_bytes packed = symbols_elf_section(outer, ".gnu_debugdata", fault);
  struct symbols_elf *file = NULL;
  int fd = packed.size ? memfd_create("symbols", MFD_CLOEXEC) : -1;
  if (fd < 0)
    return NULL;
  *fault = decompress(packed, fd);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (!*fault) {
    file = symbols_elf_open(path, reason, sizeof reason);
    *fault = file ? NULL : "contains no ELF file";
  }
  close(fd);
  return file;
}
