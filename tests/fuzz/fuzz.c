#include "tests/fuzz/fuzz.h"

#include "common/format.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mutator of libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);

/* hpcprof-lite/main.c, under another name. */
int hpcprof_main(int argc, char **argv);

static char directory[] = "/tmp/hpcprof-lite-fuzz-XXXXXX";

static void remove_directory(void)
{
  char *command;
  if (asprintf(&command, "rm -rf '%s'", directory) < 0)
    return;
  if (system(command))
    fprintf(stderr, "cannot remove %s\n", directory);
  free(command);
}

/* The messages of the report are discarded.  The sanitizers do not write to this stream. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  if (!mkdtemp(directory) || atexit(remove_directory))
    exit(1);
  stderr = fopen("/dev/null", "we");
  return stderr ? 0 : 1;
}

char *fuzz_path(const char *name)
{
  char *path;
  if (asprintf(&path, "%s/%s", directory, name) < 0)
    abort();
  return path;
}

void fuzz_write(const char *name, const uint8_t *data, size_t size)
{
  char *path = fuzz_path(name);
  FILE *file = fopen(path, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file))
    abort();
  free(path);
}

void fuzz_remove(const char *name)
{
  char *path = fuzz_path(name);
  unlink(path);
  free(path);
}

void fuzz_copy_measurement(void)
{
  static uint8_t bytes[1 << 20];
  const char *path = getenv("HPCPROF_FUZZ_MEASUREMENT");
  FILE *file = path ? fopen(path, "re") : NULL;
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (!size)
    abort();
  fclose(file);
  fuzz_write("a.hpcrun", bytes, size);
}

void fuzz_report(const char *const *arguments)
{
  char *argv[32] = {(char *)"hpcprof-lite"};
  int argc = 1;
  for (; arguments[argc - 1] && argc < 31; argc++)
    argv[argc] = (char *)arguments[argc - 1];
  optind = 0;
  hpcprof_main(argc, argv);
}

uint32_t fuzz_choice(const uint8_t *data, size_t size)
{
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ data[i]) * 16777619u;
  return hash >> 8;
}

static uint32_t crc32_of(const uint8_t *bytes, size_t size, uint32_t crc)
{
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

/* Repairs the extent at data: its magic and version, a size that exceeds the data, and the checksum.  Returns its
 * size. */
static size_t mend_extent(uint8_t *data, size_t size)
{
  struct format_extent head;
  static const uint64_t magic = FORMAT_MAGIC;
  memcpy(&head, data, sizeof head);
  size_t rest = size - sizeof head;
  head.magic = magic;
  head.version = FORMAT_VERSION;
  head.table %= FORMAT_TABLES;
  head.flags &= FORMAT_LIVE | FORMAT_ZSTD;
  if (head.stored_size > rest) {
    const uint8_t *next = memmem(data + sizeof head, rest, &magic, sizeof magic);
    head.stored_size = next ? (size_t)(next - data) - sizeof head : rest;
  }
  head.crc = 0;
  uint32_t crc = crc32_of((const uint8_t *)&head, sizeof head, 0);
  head.crc = crc32_of(data + sizeof head, head.stored_size, crc);
  memcpy(data, &head, sizeof head);
  return sizeof head + head.stored_size;
}

/* Mutations move the headers of extents: each is found by its magic. */
static void mend(uint8_t *data, size_t size)
{
  static const uint64_t magic = FORMAT_MAGIC;
  size_t at = 0;
  while (size - at >= sizeof(struct format_extent)) {
    const uint8_t *found = memmem(data + at, size - at, &magic, sizeof magic);
    if (!found || size - (size_t)(found - data) < sizeof(struct format_extent))
      return;
    at = (size_t)(found - data);
    at += mend_extent(data + at, size - at);
  }
}

size_t fuzz_mutate_extents(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  size = LLVMFuzzerMutate(data, size, size_max);
  if (seed % 8)
    mend(data, size);
  return size;
}
