#include "hpcrun-lite/rt/core/perf_map.h"

#include <fcntl.h>
#include <stdatomic.h>

#include "hpcrun-lite/rt/core/pinned.h"

#define MAP_PREFIX "/tmp/perf-"
#define MAP_SUFFIX ".map"
enum { MAP_BYTES_MAX = 16 << 20, STEP_BYTES = 256 << 10, FIRST_PAUSE_NS = 50000000 };
static const uint64_t longest_pause_ns = 60000000000u;
static const uint64_t clock_step_ns = 10000000; /* times of files may be that much behind CLOCK_REALTIME */

/* The plain fields belong to the thread that holds `busy`. */
static struct {
  char map[64], path[PINNED_PATH_BYTES], part_path[PINNED_PATH_BYTES];
  uint64_t start_ns, pause_ns;
  struct sys_facts copied; /* the map of which there is a copy; inode 0: none */
  struct sys_facts begun;  /* the map of which a copy has begun; inode 0: none */
  uint64_t done;           /* bytes of that one */
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
  state.copied.inode = state.begun.inode = state.copy.inode = state.part.inode = 0;
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

static void abandon(void)
{
  pinned_remove(&state.part); /* also one that could not be removed before */
  state.begun.inode = 0;
}

/* Begins a copy, unless one of this map has begun: what is appended meanwhile is for the next one. */
static bool begin(const struct sys_facts *map)
{
  if (state.begun.inode == map->inode && state.begun.device == map->device && state.begun.size <= map->size)
    return true;
  abandon();
  if (!wanted(map) || !pinned_name(&state.part, state.part_path))
    return false;
  state.begun = *map;
  state.done = 0;
  return true;
}

static void finish_copy(void)
{
  if (pinned_rename(&state.part, state.path, &state.copy) == 0) {
    state.copy = state.part;
    state.part.inode = 0;
    state.copied = state.begun;
  }
  abandon();
}

static void copy_from(const struct sys_own *map, uint64_t bytes)
{
  uint64_t left = state.begun.size - state.done, size = left < bytes ? left : bytes;
  bool same = map->device == state.begun.device && map->inode == state.begun.inode;
  if (!same || pinned_copy(&state.part, map, state.done, size)) {
    abandon();
    return;
  }
  state.done += size;
  if (state.done == state.begun.size)
    finish_copy();
}

/* Copies the map, or the next part of it. */
static void copy_map(uint64_t bytes)
{
  struct sys_facts facts;
  struct sys_own map;
  uint64_t size;
  if (!state.path[0] || !state.part_path[0])
    return;
  if (sys_facts_in(NULL, state.map, &facts) || !begin(&facts) || !sys_open_program(&map, AT_FDCWD, state.map, &size)) {
    abandon();
    return;
  }
  copy_from(&map, bytes);
  sys_close_own(&map);
}

void perf_map_sampled(void)
{
  uint64_t next = atomic_load_explicit(&state.next_ns, memory_order_relaxed), now = sys_monotonic_ns();
  if (now < next || atomic_flag_test_and_set_explicit(&state.busy, memory_order_acquire))
    return;
  copy_map(STEP_BYTES);
  if (state.begun.inode) { /* the next sample goes on */
    atomic_store_explicit(&state.next_ns, now, memory_order_relaxed);
  } else {
    atomic_store_explicit(&state.next_ns, now + state.pause_ns, memory_order_relaxed);
    state.pause_ns = 2 * state.pause_ns < longest_pause_ns ? 2 * state.pause_ns : longest_pause_ns;
  }
  atomic_flag_clear_explicit(&state.busy, memory_order_release);
}

void perf_map_finish(void)
{
  if (!atomic_load(&state.next_ns) || atomic_flag_test_and_set_explicit(&state.busy, memory_order_acquire))
    return;
  abandon();
  copy_map(MAP_BYTES_MAX);
  atomic_flag_clear_explicit(&state.busy, memory_order_release);
}
