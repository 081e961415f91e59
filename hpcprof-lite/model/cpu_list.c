#include "hpcprof-lite/model/cpu_list.h"

#include "hpcprof-lite/model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CPUS = 64 * PROFILE_MASK_WORDS, RESERVE = 64 };

static bool has(const uint64_t *words, uint32_t cpu)
{
  return cpu < CPUS && words[cpu / 64] >> cpu % 64 & 1;
}

uint32_t cpu_list_count(const uint64_t *words)
{
  uint32_t count = 0;
  for (unsigned i = 0; i < PROFILE_MASK_WORDS; i++)
    count += (uint32_t)__builtin_popcountll(words[i]);
  return count;
}

bool cpu_list_within(const uint64_t *words, const uint64_t *other)
{
  for (unsigned i = 0; i < PROFILE_MASK_WORDS; i++)
    if (words[i] & ~other[i])
      return false;
  return true;
}

const char *cpu_list_text(const uint64_t *words, uint64_t all, char text[CPU_LIST_TEXT])
{
  uint32_t stored = cpu_list_count(words);
  int length = 0;
  text[0] = '\0';
  for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
    uint32_t first = cpu;
    if (!has(words, cpu))
      continue;
    while (has(words, cpu + 1))
      cpu++;
    if (length > CPU_LIST_TEXT - RESERVE) {
      length += snprintf(text + length, (size_t)(CPU_LIST_TEXT - length), ",...");
      break;
    }
    length += snprintf(text + length, (size_t)(CPU_LIST_TEXT - length), "%s%" PRIu32, length ? "," : "", first);
    if (cpu > first)
      length += snprintf(text + length, (size_t)(CPU_LIST_TEXT - length), "-%" PRIu32, cpu);
  }
  if (all > stored)
    snprintf(text + length, (size_t)(CPU_LIST_TEXT - length), "%s+%" PRIu64, length ? "," : "", all - stored);
  return text;
}
