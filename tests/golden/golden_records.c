#include "tests/golden/golden_records.h"

#include <stdlib.h>
#include <sys/stat.h>

struct compose compose;

static const char *top;

void golden_into(const char *directory)
{
  top = directory;
}

void save_as(const char *name, uint32_t pid, const char *suffix)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", top, name);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/node1-%u-1.%s", top, name, pid, suffix);
  if (compose_write(&compose, path))
    return;
  perror(path);
  exit(1);
}

void save(const char *name, uint32_t pid)
{
  save_as(name, pid, "hpcrun");
}

uint64_t ms(uint64_t count)
{
  return count * 1000000;
}

uint64_t ticks_of_ms(uint64_t count)
{
  return 2 * ms(count);
}

void time_metrics(void)
{
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 10000000);
  compose_metric(&compose, "overhead", "ns", FORMAT_ROLE_OVERHEAD, 0);
}

void blame_metrics(void)
{
  time_metrics();
  compose_metric(&compose, "lockwait", "ns", FORMAT_ROLE_LOCKWAIT, 0);
  compose_metric(&compose, "per busy", "ns", FORMAT_ROLE_PER_BUSY, 0);
  compose_metric(&compose, "in use", "ns", FORMAT_ROLE_IN_USE, 0);
}

void blame_begin(uint32_t pid, const char *command, const char *work_unit)
{
  compose_begin(&compose, COMPOSE_PACKED, pid, command);
  if (work_unit)
    compose.process.work_unit = compose_string(&compose, work_unit);
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
}

uint32_t frame_below(uint32_t parent, uint32_t offset)
{
  return compose_node(&compose, FORMAT_KIND_FRAME, 1, offset, parent, NULL);
}

uint32_t parallel_below(uint32_t parent)
{
  return compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, parent, NULL);
}

uint32_t runtime_below(uint32_t parent)
{
  return compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, parent, NULL);
}

uint32_t link_to(uint32_t node)
{
  return compose_node(&compose, FORMAT_KIND_LINK, 1, node, 0, NULL);
}

uint32_t region_body(uint32_t parent, uint32_t offset)
{
  return frame_below(parallel_below(parent), offset);
}

uint32_t charge(uint32_t kind, uint32_t parent, uint32_t offset, enum category category, uint64_t samples,
                uint64_t busy, uint64_t used)
{
  const uint64_t p = samples * 10000000;
  const uint64_t values[] = {
      samples,  category == WORK ? p : 0, category == OVERHEAD ? p : 0, category == LOCKWAIT ? p : 0,
      p / busy, p * used / busy};
  return compose_node(&compose, kind, kind == FORMAT_KIND_FRAME, offset, parent, values);
}

void blame_thread(uint32_t index, uint64_t wall_ms, uint64_t idle_ms, uint64_t lockwait_ms, uint64_t region_ms)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.samples_idle = compose.thread.idle_sampled_ns = 0;
  compose.thread.wall_ns = compose.thread.end_ns = compose.thread.cpu_ns = wall_ms * 1000000;
  compose.thread.idle_ns = idle_ms * 1000000;
  compose.thread.lockwait_ns = compose.thread.lockwait_sampled_ns = lockwait_ms * 1000000;
  compose.thread.samples_lockwait = lockwait_ms / 10;
  compose.thread.region_ns = region_ms * 1000000;
  compose_thread(&compose, index);
}

void places_begin(enum compose_form form, uint32_t pid, const char *command)
{
  compose_begin(&compose, form, pid, command);
  compose.process.cpus = 8;
  compose.process.threads_max = 4;
  compose.process.tick_scale = 1ull << 31;
  compose.process.start_ticks = 1000;
  blame_metrics();
  compose_metric(&compose, "shares", "", FORMAT_ROLE_SHARES, 0);
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
}

uint32_t share_context(uint32_t parent, uint32_t offset, enum category category, uint64_t p, uint64_t per_busy,
                       uint64_t existing, uint32_t shares)
{
  const uint64_t values[] = {
      p / 10, category == WORK ? ms(p) : 0, 0, category == LOCKWAIT ? ms(p) : 0, ms(per_busy), ms(existing), shares};
  compose.thread.per_busy_ns += ms(per_busy);
  compose.thread.in_use_ns += ms(existing);
  return compose_node(&compose, FORMAT_KIND_FRAME, 1, offset, parent, values);
}

void places_thread(uint32_t index, uint64_t wall_ms, uint64_t cpu_ms)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.samples_idle = compose.thread.idle_sampled_ns = 0;
  compose.thread.idle_ns = compose.thread.lockwait_ns = ms(1); /* not used: the places say it exactly */
  compose.thread.wall_ns = ms(wall_ms);
  compose.thread.cpu_ns = ms(cpu_ms);
  compose.thread.end_ns = ms(1000);
  compose_thread(&compose, index);
}

uint32_t wait_of(enum format_wait_kind kind, uint64_t offset, uint32_t node, uint64_t idle_ms, uint64_t runtime_ms)
{
  return compose_wait(&compose, kind, offset, node, ticks_of_ms(idle_ms), ticks_of_ms(runtime_ms));
}

uint32_t share_of(uint32_t wait, uint64_t shared_ms, uint32_t next)
{
  return compose_share(&compose, wait, ms(shared_ms), next);
}
