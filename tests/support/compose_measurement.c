#include "tests/support/compose_measurement.h"

#include <assert.h>
#include <string.h>
#include <zstd.h>

/* The values of a thread's record unless a test sets others. */
static const struct format_thread usual_thread = {.end_ns = 1000000000,
                                                  .samples_idle = 2,
                                                  .idle_sampled_ns = 20000000,
                                                  .idle_ns = 50000000,
                                                  .lockwait_ns = 1000000,
                                                  .cpu_ns = 950000000,
                                                  .wall_ns = 1000000000};

void compose_begin(struct compose *compose, enum compose_form form, uint32_t pid, const char *command)
{
  memset(compose, 0, sizeof *compose);
  compose->form = form;
  compose->thread = usual_thread;
  compose->strings_size = 1; /* offset 0 is "" */
  compose->modules_count = 1;
  compose->regions_count = 1;
  compose->values_count = 1;
  compose->shares_count = 1;
  compose->directives_count = 1;
  compose->process = (struct format_process){.pid = pid,
                                             .parent_pid = 1,
                                             .rank = -1,
                                             .flags = FORMAT_PROCESS_OMPT | FORMAT_PROCESS_FIRST,
                                             .start_ns = 1700000000000000000,
                                             .wall_ns = 1000000000,
                                             .cpu_ns = 1900000000,
                                             .cpus = 2,
                                             .threads_max = 2};
  compose->process.host = compose_string(compose, "node1");
  compose->process.command = compose_string(compose, command);
  compose->process.runtime = compose_string(compose, "LLVM OMP version: 5.0");
  compose_node(compose, FORMAT_KIND_ROOT, 0, 0, 0, NULL);
}

uint32_t compose_string(struct compose *compose, const char *text)
{
  size_t size = strlen(text) + 1;
  uint32_t at = compose->strings_size;
  assert(at + size <= sizeof compose->strings);
  memcpy(compose->strings + at, text, size);
  compose->strings_size += (uint32_t)size;
  return at;
}

void compose_metric(struct compose *compose, const char *name, const char *unit, uint32_t role, uint64_t period)
{
  struct format_metric *metric = &compose->metrics[compose->metrics_count++];
  metric->name = compose_string(compose, name);
  metric->unit = compose_string(compose, unit);
  metric->role = role;
  metric->period = period;
}

uint32_t compose_module(struct compose *compose, const char *path, uint32_t flags)
{
  struct format_module *module = &compose->modules[compose->modules_count];
  module->start = module->base = 0x10000000ull * compose->modules_count;
  module->end = module->start + 0x100000;
  module->path = compose_string(compose, path);
  module->flags = flags;
  return compose->modules_count++;
}

uint32_t compose_region(struct compose *compose, uint32_t owner, uint32_t node, uint32_t state)
{
  compose->regions[compose->regions_count] = (struct format_region){.owner = owner, .link_node = node, .state = state};
  return compose->regions_count++;
}

static void set_values(struct compose *compose, struct format_node *node, const uint64_t *values)
{
  assert((compose->values_count + 1) * compose->metrics_count <= COMPOSE_RECORDS);
  node->value = compose->values_count++;
  memcpy(&compose->values[node->value * compose->metrics_count], values, compose->metrics_count * sizeof *values);
}

void compose_root_values(struct compose *compose, const uint64_t *values)
{
  set_values(compose, &compose->nodes[0], values);
}

uint32_t compose_node(struct compose *compose, uint32_t kind, uint32_t what, uint32_t offset, uint32_t parent,
                      const uint64_t *values)
{
  assert(compose->nodes_count < COMPOSE_RECORDS);
  struct format_node *node = &compose->nodes[compose->nodes_count];
  *node = (struct format_node){.kind_what = kind << 24 | what, .offset = offset, .parent = parent};
  if (values)
    set_values(compose, node, values);
  return compose->nodes_count++;
}

uint32_t compose_frame(struct compose *compose, uint32_t parent, uint32_t offset, uint64_t samples, uint64_t work_ns)
{
  const uint64_t values[sizeof compose->metrics / sizeof *compose->metrics] = {samples, work_ns};
  return compose_node(compose, FORMAT_KIND_FRAME, 1, offset, parent, samples ? values : NULL);
}

uint32_t compose_directive(struct compose *compose, uint32_t kind, uint32_t module, uint64_t offset, uint64_t instances,
                           uint64_t work, uint64_t span)
{
  assert(compose->directives_count < sizeof compose->directives / sizeof *compose->directives);
  compose->directives[compose->directives_count] = (struct format_directive){
      .kind = kind, .module = module, .offset = offset, .instances = instances, .work = work, .span = span};
  return compose->directives_count++;
}

void compose_contribution(struct compose *compose, uint32_t directive, uint32_t thread, uint32_t node, uint64_t amount)
{
  assert(compose->contributions_count < sizeof compose->contributions / sizeof *compose->contributions);
  compose->contributions[compose->contributions_count++] =
      (struct format_contribution){.directive = directive, .thread = thread, .node = node, .amount = amount};
}

uint32_t compose_wait(struct compose *compose, enum format_wait_kind kind, uint64_t offset, uint32_t node,
                      uint64_t idle, uint64_t runtime)
{
  assert(compose->waits_count < sizeof compose->waits / sizeof *compose->waits);
  compose->waits[compose->waits_count] = (struct format_wait){.kind = kind,
                                                              .module = kind != FORMAT_WAIT_PARKED,
                                                              .offset = offset,
                                                              .key = offset << 3 | kind,
                                                              .node = node,
                                                              .context_sought = node > 0,
                                                              .count = 1,
                                                              .idle = idle,
                                                              .runtime = runtime};
  return compose->waits_count++;
}

uint32_t compose_share(struct compose *compose, uint32_t wait, uint64_t ns, uint32_t next)
{
  assert(compose->shares_count < sizeof compose->shares / sizeof *compose->shares);
  compose->shares[compose->shares_count] = (struct format_share){.wait = wait, .next = next, .ns = ns};
  if (wait < compose->waits_count)
    compose->waits[wait].shared_ns += ns;
  return compose->shares_count++;
}

uint32_t compose_construct(struct compose *compose, uint32_t parent, uint32_t kind, uint32_t directive, uint64_t count)
{
  assert(compose->constructs_count < sizeof compose->constructs / sizeof *compose->constructs);
  compose->constructs[compose->constructs_count] =
      (struct format_construct){.parent = parent, .kind = kind, .directive = directive, .count = count};
  return compose->constructs_count++;
}

struct format_tasks *compose_tasks(struct compose *compose, uint32_t directive)
{
  assert(compose->tasks_count < sizeof compose->tasks / sizeof *compose->tasks);
  compose->tasks[compose->tasks_count] = (struct format_tasks){.directive = directive};
  return &compose->tasks[compose->tasks_count++];
}

void compose_extent(struct compose *compose, uint32_t table, uint32_t owner, uint32_t first, uint32_t count,
                    uint32_t record_size, const void *records)
{
  struct format_extent head = {
      .table = (uint16_t)table, .owner = owner, .first = first, .count = count, .record_size = record_size};
  size_t size = (size_t)count * record_size;
  uint8_t *out = compose->bytes + compose->size;
  size_t room = sizeof compose->bytes - compose->size;
  assert(room >= format_pack_bound(size) + 64);
  if (compose->form == COMPOSE_LIVE) { /* with room for more records after the valid ones */
    head.magic = FORMAT_MAGIC;
    head.version = FORMAT_VERSION;
    head.flags = FORMAT_LIVE;
    head.stored_size = size + 64;
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, records, size);
    memset(out + sizeof head + size, 0xee, 64);
    compose->size += sizeof head + size + 64;
    return;
  }
  ZSTD_CCtx *cctx = compose->form == COMPOSE_ZSTD ? ZSTD_createCCtx() : NULL;
  size_t written = format_pack(&head, records, cctx, out, room);
  ZSTD_freeCCtx(cctx);
  assert(written);
  compose->size += written;
}

void compose_thread(struct compose *compose, uint32_t index)
{
  struct format_thread thread = compose->thread;
  thread.index = index;
  thread.tid = compose->process.pid + index - 1;
  thread.lost[FORMAT_LOST_PARTIAL] += index == 1;
  thread.samples = thread.samples_idle;
  for (uint32_t i = 1; i < compose->values_count; i++)
    thread.samples += compose->values[i * compose->metrics_count];
  compose_extent(compose, FORMAT_NODES, index, 0, compose->nodes_count, sizeof *compose->nodes, compose->nodes);
  compose_extent(compose, FORMAT_VALUES, index, 0, compose->values_count, compose->metrics_count * sizeof(uint64_t),
                 compose->values);
  if (compose->waits_count) {
    compose_extent(compose, FORMAT_WAITS, index, 0, compose->waits_count, sizeof *compose->waits, compose->waits);
    compose_extent(compose, FORMAT_SHARES, index, 0, compose->shares_count, sizeof *compose->shares, compose->shares);
  }
  if (compose->constructs_count) {
    compose_extent(compose, FORMAT_CONSTRUCTS, index, 0, compose->constructs_count, sizeof *compose->constructs,
                   compose->constructs);
    compose_extent(compose, FORMAT_TASKS, index, 0, compose->tasks_count, sizeof *compose->tasks, compose->tasks);
  }
  compose_extent(compose, FORMAT_THREAD, index, 0, 1, sizeof thread, &thread);
  compose->process.threads++;
  compose->thread = usual_thread;
  compose->nodes_count = 0;
  compose->values_count = compose->shares_count = 1;
  compose->waits_count = compose->constructs_count = compose->tasks_count = 0;
  memset(compose->values, 0, sizeof compose->values);
  compose_node(compose, FORMAT_KIND_ROOT, 0, 0, 0, NULL);
}

void compose_end(struct compose *compose)
{
  compose_extent(compose, FORMAT_METRICS, 0, 0, compose->metrics_count, sizeof *compose->metrics, compose->metrics);
  compose_extent(compose, FORMAT_MODULES, 0, 0, compose->modules_count, sizeof *compose->modules, compose->modules);
  compose_extent(compose, FORMAT_REGIONS, 0, 0, compose->regions_count, sizeof *compose->regions, compose->regions);
  if (compose->process.work_unit || compose->directives_count > 1) {
    compose_extent(compose, FORMAT_DIRECTIVES, 0, 0, compose->directives_count, sizeof *compose->directives,
                   compose->directives);
    compose_extent(compose, FORMAT_CONTRIBUTIONS, 0, 0, compose->contributions_count, sizeof *compose->contributions,
                   compose->contributions);
  }
  compose_extent(compose, FORMAT_STRINGS, 0, 0, compose->strings_size, 1, compose->strings);
  compose_extent(compose, FORMAT_PROCESS, 0, 0, 1, sizeof compose->process, &compose->process);
}

bool compose_write(const struct compose *compose, const char *path)
{
  FILE *file = fopen(path, "wb");
  if (!file)
    return false;
  bool fine = fwrite(compose->bytes, 1, compose->size, file) == compose->size;
  return !fclose(file) && fine;
}
