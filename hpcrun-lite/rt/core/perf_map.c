#include "hpcrun-lite/rt/core/perf_map.h"

#include <fcntl.h>
#include <stdatomic.h>

#include "hpcrun-lite/rt/core/pinned.h"

#define MAP_PREFIX "/tmp/perf-"
#define MAP_SUFFIX ".map"
enum { MAP_BYTES_MAX = 16 << 20, FIRST_PAUSE_NS = 50000000 };
static const uint64_t longest_pause_ns = 60000000000u;
static const uint64_t clock_step_ns = 10000000; /* times of files may be that much behind CLOCK_REALTIME */

/* The plain fields belong to the thread that holds `busy`. */
static struct {
  char map[64], path[PINNED_PATH_BYTES], part_path[PINNED_PATH_BYTES];
  uint64_t start_ns, pause_ns;
  struct sys_facts copied; /* the map of which there is a copy; inode 0: none */
  struct pinned_file copy, part;
  _Atomic uint64_t next_ns; /* when the map is looked at again; 0: no sample was in generated code yet */
  atomic_flag busy;
} state = {.busy = ATOMIC_FLAG_INIT};

static void name_map(int pid)
{
  char digits[16], *at = state.map + sizeof MAP_PREFIX - 1;
  unsigned count = 0;
  for (; pid > 0 && count < sizeof digits; pid /= 10)
    digits[count++] = (char)('0' + pid % 10);
  __builtin_memcpy(state.map, MAP_PREFIX, sizeof MAP_PREFIX - 1);
  while (count)
    *at++ = digits[--count];
  __builtin_memcpy(at, MAP_SUFFIX, sizeof MAP_SUFFIX);
}

static void set_path(char path[PINNED_PATH_BYTES], const char *to)
{
  size_t length = __builtin_strlen(to);
  path[0] = '\0';
  if (length < PINNED_PATH_BYTES)
    __builtin_memcpy(path, to, length + 1);
}

void perf_map_start(const char *path, const char *part, int pid, uint64_t start_realtime_ns)
{
  atomic_flag_clear(&state.busy);
  atomic_store(&state.next_ns, 0);
  set_path(state.path, path);
  set_path(state.part_path, part);
  name_map(pid);
  state.start_ns = start_realtime_ns;
  state.pause_ns = FIRST_PAUSE_NS;
  state.copied.inode = state.copy.inode = state.part.inode = 0;
}

/* Whether the map may be used, and has changed since it was copied. */
static bool wanted(const struct sys_facts *facts)
{
  const struct sys_facts *before = &state.copied;
  bool same = before->inode == facts->inode && before->device == facts->device && before->size == facts->size &&
              before->time_ns == facts->time_ns;
  return !same && facts->single && facts->owner == sys_user() && facts->size && facts->size <= MAP_BYTES_MAX &&
         facts->time_ns + clock_step_ns >= state.start_ns;
}

static void copy_map(void)
{
  struct sys_facts facts;
  struct sys_own map;
  uint64_t size;
  if (!state.path[0] || !state.part_path[0] || sys_facts_in(NULL, state.map, &facts) || !wanted(&facts) ||
      !sys_open_program(&map, AT_FDCWD, state.map, &size))
    return;
  pinned_remove(&state.part); /* one that could not be removed before */
  bool same = map.device == facts.device && map.inode == facts.inode && pinned_name(&state.part, state.part_path);
  if (same && !pinned_copy(&state.part, &map, facts.size)) {
    if (pinned_rename(&state.part, state.path, &state.copy) == 0) {
      state.copy = state.part;
      state.part.inode = 0;
      state.copied = facts;
    } else {
      pinned_remove(&state.part);
    }
  }
  sys_close_own(&map);
}

void perf_map_sampled(void)
{
  uint64_t next = atomic_load_explicit(&state.next_ns, memory_order_relaxed), now = sys_monotonic_ns();
  if (now < next || atomic_flag_test_and_set_explicit(&state.busy, memory_order_acquire))
    return;
  atomic_store_explicit(&state.next_ns, now + state.pause_ns, memory_order_relaxed);
  state.pause_ns = 2 * state.pause_ns < longest_pause_ns ? 2 * state.pause_ns : longest_pause_ns;
  copy_map();
  atomic_flag_clear_explicit(&state.busy, memory_order_release);
}

void perf_map_finish(void)
{
  if (!atomic_load(&state.next_ns) || atomic_flag_test_and_set_explicit(&state.busy, memory_order_acquire))
    return;
  copy_map();
  atomic_flag_clear_explicit(&state.busy, memory_order_release);
}
