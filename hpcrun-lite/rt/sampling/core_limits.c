#include "hpcrun-lite/rt/sampling/core_limits.h"

#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/times.h"

enum {
  GROUPS = 16,
  PATH_BYTES = 512,
  TEXT_BYTES = 1024,
  MASK_TICKS = 1 << 30,      /* between two readings of a mask: 0.3 to 1 s, depending on the length of a tick */
  TICK_NS = 1000000000 / 100 /* of /proc/stat, on all machines */
};
static const uint64_t FILES_TICKS = 1ull << 33; /* between two readings of the files: /proc/stat is slow to write */

static struct {
  char path[PATH_BYTES];
  struct core_throttling start;
} groups[GROUPS];
static unsigned group_count;
static struct core_machine machine_start;
static _Atomic uint64_t files_due; /* time-stamp counter */

/* ---- files of the kernel ---- */

/* Reads a number, and returns what follows it; NULL if there is none. */
static const char *number_at(const char *at, uint64_t *out)
{
  uint64_t value = 0;
  if (*at < '0' || *at > '9')
    return NULL;
  for (; *at >= '0' && *at <= '9'; at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
      return NULL;
  *out = value;
  return at;
}

/* The number in the line that begins with a name and a space. */
static bool number_of(const char *text, const char *name, uint64_t *out)
{
  while (*text) {
    const char *at = text, *expected = name;
    while (*expected && *at == *expected)
      at++, expected++;
    if (!*expected && *at == ' ')
      return number_at(at + 1, out) != NULL;
    while (*text && *text++ != '\n')
      ;
  }
  return false;
}

bool core_limits_parse_group(const char *text, struct core_throttling *out)
{
  uint64_t usec;
  *out = (struct core_throttling){0};
  number_of(text, "nr_throttled", &out->throttled_periods);
  if (number_of(text, "throttled_usec", &usec)) /* version 2; version 1 has nanoseconds */
    out->throttled_ns = usec <= UINT64_MAX / 1000 ? 1000 * usec : UINT64_MAX;
  else
    number_of(text, "throttled_time", &out->throttled_ns);
  return number_of(text, "nr_periods", &out->periods);
}

bool core_limits_parse_machine(const char *text, struct core_machine *out)
{
  enum { STEAL = 7, COLUMNS }; /* the columns after it are parts of others */
  *out = (struct core_machine){0};
  if (text[0] != 'c' || text[1] != 'p' || text[2] != 'u' || text[3] != ' ')
    return false;
  const char *at = text + 3;
  for (int i = 0; i < COLUMNS; i++) {
    uint64_t value;
    while (*at == ' ')
      at++;
    at = number_at(at, &value);
    if (!at || __builtin_add_overflow(out->all, value, &out->all))
      return false;
    if (i == STEAL)
      out->steal = value;
  }
  return true;
}

static bool read_group(const char *path, struct core_throttling *out)
{
  char text[TEXT_BYTES];
  text[sys_read_file(path, text, sizeof text - 1)] = '\0';
  return core_limits_parse_group(text, out);
}

static bool read_machine(struct core_machine *out)
{
  char text[TEXT_BYTES];
  text[sys_read_file("/proc/stat", text, sizeof text - 1)] = '\0';
  return core_limits_parse_machine(text, out);
}

/* ---- the process ---- */

void core_limits_start(void)
{
  group_count = 0;
  atomic_store(&files_due, rt_ticks() + FILES_TICKS);
  if (!read_machine(&machine_start))
    machine_start.all = 0;
}

void core_limits_watch(const char *path)
{
  unsigned length = 0;
  while (length < PATH_BYTES && path[length])
    length++;
  if (group_count == GROUPS || length == PATH_BYTES || !read_group(path, &groups[group_count].start))
    return;
  for (unsigned i = 0; i <= length; i++)
    groups[group_count].path[i] = path[i];
  group_count++;
}

void core_limits_process(struct format_process *process)
{
  struct core_machine machine;
  struct core_throttling most = {0};
  for (unsigned i = 0; i < group_count; i++) {
    struct core_throttling now;
    const struct core_throttling *start = &groups[i].start;
    if (!read_group(groups[i].path, &now))
      continue;
    struct core_throttling run = {.periods = rt_minus(now.periods, start->periods),
                                  .throttled_periods = rt_minus(now.throttled_periods, start->throttled_periods),
                                  .throttled_ns = rt_minus(now.throttled_ns, start->throttled_ns)};
    if (!most.periods || run.throttled_ns > most.throttled_ns)
      most = run;
  }
  process->quota_periods = most.periods;
  process->throttled_periods = most.throttled_periods;
  process->throttled_ns = most.throttled_ns;
  if (machine_start.all && read_machine(&machine)) {
    process->steal_ns = TICK_NS * rt_minus(machine.steal, machine_start.steal);
    process->machine_ns = TICK_NS * rt_minus(machine.all, machine_start.all);
  }
  process->limits_ns = times_elapsed_ns();
}

/* ---- threads ---- */

void core_limits_thread(struct thread_state *t)
{
  uint32_t cpus = sys_affinity(t->tid, t->record->mask, FORMAT_MASK_WORDS);
  if (cpus)
    t->record->mask_cpus = cpus;
}

void core_limits_sample(struct thread_state *t)
{
  uint32_t cpu = sys_current_cpu();
  uint64_t now = rt_ticks(), due = atomic_load_explicit(&files_due, memory_order_relaxed);
  if (cpu < 64 * FORMAT_MASK_WORDS)
    t->record->cpus_seen[cpu / 64] |= 1ull << cpu % 64;
  else if (cpu != UINT32_MAX)
    t->record->cpus_beyond++;
  if (now < sampling_of(t)->mask_due)
    return;
  sampling_of(t)->mask_due = now + MASK_TICKS;
  core_limits_thread(t);
  struct format_process *process = atomic_load(&rt.record);
  if (now >= due && process && atomic_compare_exchange_strong(&files_due, &due, now + FILES_TICKS))
    core_limits_process(process);
}
