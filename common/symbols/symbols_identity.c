#include "common/symbols/symbols_identity.h"

#include "common/order.h"
#include "common/symbols/callees.h"
#include "common/symbols/elf_segments.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { TIME_SIZE = 32 };

void symbols_identity_text(struct symbols_bytes id, char text[SYMBOLS_ID_TEXT])
{
  assert(id.data || !id.size);
  text[0] = 0;
  for (size_t i = 0; i < id.size && i < SYMBOLS_ID_BYTES; i++)
    snprintf(text + 2 * i, 3, "%02x", id.data[i]);
}

static bool check_build_id(struct symbols_elf *file, const struct symbols_request *request, char *reason, size_t size)
{
  char found_text[SYMBOLS_ID_TEXT], wanted_text[SYMBOLS_ID_TEXT];
  struct symbols_bytes found = symbols_elf_build_id(file), wanted = {request->build_id, request->build_id_size};
  if (found.size == wanted.size && !memcmp(found.data, wanted.data, found.size))
    return true;
  symbols_identity_text(found, found_text);
  symbols_identity_text(wanted, wanted_text);
  snprintf(reason, size, "build id %s, measured %s", found.size ? found_text : "missing", wanted_text);
  return false;
}

static uint64_t add_dynamic(int fd, const Elf64_Phdr *segment, uint64_t hash)
{
  assert(fd >= 0);
  Elf64_Dyn entry;
  for (unsigned i = 0;
       i < FILE_IDENTITY_ENTRIES && (i + 1) * sizeof entry <= segment->p_memsz && segment->p_offset <= INT64_MAX / 2 &&
       elf_segments_read(fd, &entry, sizeof entry, segment->p_offset + i * sizeof entry) && entry.d_tag != DT_NULL;
       i++)
    hash = file_identity_entry(hash, &entry, 0, 0, 0);
  return hash;
}

static uint64_t headers_of(int fd, const Elf64_Ehdr *head)
{
  assert(fd >= 0);
  Elf64_Phdr segment;
  uint64_t hash = HASH_START;
  for (unsigned i = 0; i < head->e_phnum && i < FILE_IDENTITY_SEGMENTS && elf_segments_header(fd, head, i, &segment);
       i++) {
    hash = hash_bytes(hash, &segment, sizeof segment);
    if (segment.p_type == PT_DYNAMIC)
      hash = add_dynamic(fd, &segment, hash);
  }
  return hash;
}

/* Whether the file has that code. */
static bool has_code(int fd, const Elf64_Ehdr *head, const struct file_identity_page *page)
{
  uint8_t code[FILE_IDENTITY_PAGE];
  Elf64_Phdr segment;
  for (unsigned i = 0; i < head->e_phnum && i < FILE_IDENTITY_SEGMENTS && elf_segments_header(fd, head, i, &segment);
       i++) {
    uint64_t at = page->offset - segment.p_vaddr;
    if (elf_segments_has_code(&segment) && page->offset >= segment.p_vaddr && at < segment.p_filesz)
      return page->bytes <= sizeof code && page->bytes <= segment.p_filesz - at && segment.p_offset <= INT64_MAX / 2 &&
             at <= INT64_MAX / 2 && elf_segments_read(fd, code, page->bytes, segment.p_offset + at) &&
             hash_bytes(HASH_START, code, page->bytes) == page->checksum;
  }
  return false;
}

/* Compares what was recorded of the file with the open one. */
static bool check_recorded(int fd, const Elf64_Ehdr *head, const struct file_identity *identity, char *reason,
                           size_t size)
{
  assert(reason && size);
  struct stat status;
  uint64_t bytes = fstat(fd, &status) ? 0 : (uint64_t)status.st_size;
  if (identity->differs)
    snprintf(reason, size, "processes of this run had different files at this path");
  else if (identity->size && bytes != identity->size)
    snprintf(reason, size, "%" PRIu64 " bytes, measured %" PRIu64, bytes, identity->size);
  else if (headers_of(fd, head) != identity->headers)
    snprintf(reason, size, "its program headers or its dynamic section differ");
  else {
    for (uint32_t i = 0; i < identity->pages_count; i++)
      if (!has_code(fd, head, &identity->pages[i])) {
        snprintf(reason, size, "its code at 0x%" PRIx64 " differs", identity->pages[i].offset);
        return false;
      }
    return true;
  }
  return false;
}

/* Whether the checksum of a page covers an address: then the code there is the one that was measured. */
static bool is_compared(const struct file_identity *identity, uint64_t offset)
{
  for (uint32_t i = 0; identity && i < identity->pages_count; i++)
    if (offset - identity->pages[i].offset < identity->pages[i].bytes)
      return true;
  return false;
}

/* Whether calls stand before recorded return addresses.  A few need not: a signal may interrupt a function anywhere,
 * and a function that was left by a jump is known by its start. */
static bool check_calls(const char *path, const struct symbols_request *request, char *reason, size_t size)
{
  assert(request->calls || !request->calls_count);
  struct callees *callees = request->calls_count ? callees_open(path) : NULL;
  uint32_t missing = 0, checked = 0;
  for (uint32_t i = 0; callees && i < request->calls_count; i++) {
    bool compared = is_compared(request->identity, request->calls[i]);
    checked += !compared;
    missing += !compared && !callees_ends_call(callees, (uint64_t)request->calls[i] + 1);
  }
  callees_free(callees);
  if (missing < 2 || missing <= checked / 2)
    return true;
  snprintf(reason, size, "no call instruction is before %" PRIu32 " of %" PRIu32 " recorded return addresses", missing,
           checked);
  return false;
}

static void time_text(time_t when, char text[TIME_SIZE])
{
  struct tm parts;
  if (!gmtime_r(&when, &parts) || !strftime(text, TIME_SIZE, "%Y-%m-%d %H:%M:%S", &parts))
    snprintf(text, TIME_SIZE, "unknown");
}

/* Appends the times of both files, which help to find the right one. */
static void add_times(int fd, const struct file_identity *identity, char *reason, size_t size)
{
  char found[TIME_SIZE], measured[TIME_SIZE];
  struct stat status;
  size_t used = strnlen(reason, size);
  if (fd < 0 || !identity || !identity->time_ns || fstat(fd, &status))
    return;
  time_text(status.st_mtim.tv_sec, found);
  time_text((time_t)(identity->time_ns / 1000000000u), measured);
  snprintf(reason + used, size - used, "; modified %s UTC, the measured one %s UTC", found, measured);
}

bool symbols_identity_check(struct symbols_elf *file, const char *path, const struct symbols_request *request,
                            char *reason, size_t size)
{
  assert(file && size);
  const struct file_identity *identity = request->identity;
  Elf64_Ehdr head;
  bool by_id = request->build_id && request->build_id_size, recorded = !by_id && identity && identity->headers;
  int fd = elf_segments_open(path, &head);
  bool same = true;
  if (by_id)
    same = check_build_id(file, request, reason, size);
  else if (fd >= 0)
    same = (!recorded || check_recorded(fd, &head, identity, reason, size)) &&
           (head.e_machine != EM_X86_64 || check_calls(path, request, reason, size));
  if (!same)
    add_times(fd, identity, reason, size);
  if (fd >= 0)
    close(fd);
  return same;
}
