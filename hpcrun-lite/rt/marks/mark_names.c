#include "hpcrun-lite/rt/marks/mark_names.h"

#include <stdatomic.h>
#include <string.h>

#include "common/hash.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { HEADS = 4096, NAMES_FIRST = 64, TRIES = 100000 };

struct mark_name {
  uint64_t hash;
  uint32_t string, next; /* next: of the same head, 0: none */
};

static struct table names;            /* record 0 is not used */
static _Atomic uint32_t heads[HEADS]; /* stored with release under the lock, after the record; loaded with acquire */
static atomic_flag lock = ATOMIC_FLAG_INIT;

void mark_names_start(void)
{
  uint32_t index;
  atomic_flag_clear(&lock);
  for (unsigned i = 0; i < HEADS; i++)
    atomic_store_explicit(&heads[i], 0, memory_order_relaxed);
  table_init(&names, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct mark_name), NAMES_FIRST);
  if (table_next(&names, &index))
    table_publish(&names);
}

/* Copies the name, cut before a character of which not all bytes fit. */
static void cut(const char *name, char out[MARK_NAME_BYTES + 1])
{
  size_t length = strnlen(name, MARK_NAME_BYTES + 1);
  if (length > MARK_NAME_BYTES) {
    length = MARK_NAME_BYTES;
    for (unsigned i = 0; i < 3 && ((unsigned char)name[length] & 0xc0) == 0x80; i++)
      length--;
  }
  memcpy(out, name, length);
  out[length] = 0;
}

static uint32_t find(unsigned head, uint64_t hash, const char *name)
{
  uint32_t index = atomic_load_explicit(&heads[head], memory_order_acquire);
  while (index) {
    const struct mark_name *known = table_at(&names, index);
    if (known->hash == hash && !strcmp(table_at(modules_strings(), known->string), name))
      return known->string;
    index = known->next;
  }
  return 0;
}

/* The caller holds the lock. */
static uint32_t add(unsigned head, uint64_t hash, const char *name)
{
  uint32_t index, string = find(head, hash, name); /* another thread may have added it */
  if (string || !names.count || names.count > MARK_NAMES_MAX)
    return string;
  struct mark_name *made = table_next(&names, &index);
  string = made ? modules_string(name) : 0;
  if (!string)
    return 0;
  *made = (struct mark_name){hash, string, atomic_load_explicit(&heads[head], memory_order_relaxed)};
  table_publish(&names);
  atomic_store_explicit(&heads[head], index, memory_order_release);
  return string;
}

uint32_t mark_names_find(const char *name)
{
  char fitting[MARK_NAME_BYTES + 1];
  cut(name, fitting);
  uint64_t hash = hash_bytes(HASH_START, fitting, strlen(fitting));
  unsigned head = (unsigned)(hash * 0x9e3779b97f4a7c15ULL >> 40) % HEADS;
  uint32_t string = *fitting ? find(head, hash, fitting) : 0;
  for (int i = 0; i < TRIES && !string && *fitting; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      string = find(head, hash, fitting);
      continue;
    }
    string = add(head, hash, fitting);
    atomic_flag_clear_explicit(&lock, memory_order_release);
    break;
  }
  return string;
}
