#include "common/symbols/symbols_embedded.h"

#include <lzma.h>
#include <stdlib.h>

#include "common/order.h"

enum { RATIO_MAX = 256, FIRST_BYTES = 1 << 16 }; /* a higher ratio is damaged: symbol tables shrink to a tenth */

#define IMAGE_MAX_BYTES ((size_t)64 << 20)
#define MEMORY_MAX_BYTES (256ull << 20) /* of the decoder; "xz -9" needs 65 MB */

struct image {
  uint8_t *bytes;
  size_t size, room;
};

/* Makes room for more bytes.  Returns NULL, or why that failed. */
static const char *enlarge(struct image *image, size_t room_max)
{
  size_t room = MIN(image->room ? 2 * image->room : FIRST_BYTES, room_max);
  if (room <= image->room)
    return "expands to too much data";
  uint8_t *bytes = realloc(image->bytes, room);
  if (!bytes)
    return "cannot be read: not enough memory";
  image->bytes = bytes;
  image->room = room;
  return NULL;
}

/* Decompresses to image->bytes, for free().  Returns NULL, or why that failed. */
static const char *decompress(struct symbols_bytes packed, struct image *image)
{
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_ret result = lzma_stream_decoder(&stream, MEMORY_MAX_BYTES, LZMA_CONCATENATED);
  size_t room_max = packed.size < IMAGE_MAX_BYTES / RATIO_MAX ? packed.size * RATIO_MAX : IMAGE_MAX_BYTES;
  const char *fault = NULL;
  stream.next_in = packed.data;
  stream.avail_in = packed.size;
  while (result == LZMA_OK && !fault) {
    fault = image->size == image->room ? enlarge(image, room_max) : NULL;
    if (fault)
      break;
    stream.next_out = image->bytes + image->size;
    stream.avail_out = image->room - image->size;
    result = lzma_code(&stream, LZMA_FINISH);
    image->size = image->room - stream.avail_out;
  }
  lzma_end(&stream);
  if (!fault && result != LZMA_STREAM_END)
    fault = "cannot be decompressed";
  return fault;
}

struct symbols_elf *symbols_embedded_open(struct symbols_elf *outer, const char **fault)
{
  struct symbols_bytes packed = symbols_elf_section(outer, ".gnu_debugdata", fault);
  struct image image = {0};
  if (!packed.size)
    return NULL;
  *fault = decompress(packed, &image);
  if (*fault) {
    free(image.bytes);
    return NULL;
  }
  struct symbols_elf *file = symbols_elf_open_image(image.bytes, image.size);
  *fault = file ? NULL : "contains no ELF file";
  return file;
}
