/* Makes measurements of any size: synthesize [OPTION]... DIRECTORY
 *
 * Every process becomes one file, written with the encoder of the running side.  The same options always make the same
 * bytes, except for the version of zstd.  A process has one parallel region.  Its first thread has its own calls and
 * creates the region; the trees of the other threads are linked to the region, as those of OpenMP's workers are.  A
 * share of the contexts is common to all threads, the others belong to one thread; all values are its own.  With 100
 * percent in common all threads are equal, with their values.  --noise draws the numbers of samples as runs of equal
 * programs would find them; --slower makes the code at the first address slower.
 *
 * With --messages the processes are the ranks of an MPI job instead, with graph logs, each of which sends at least that
 * many messages (synthetic_job.h). */
#include "tests/support/synthetic_job.h"
#include "tests/support/synthetic_trace.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

enum { COLUMNS = 6, HOST_PROCESSES = 64, REGION_NODE = 2, BODY = 0x80000000u };

struct shape {
  uint64_t seed;
  uint32_t processes, threads, contexts, depth, directives, common; /* common: percent */
  uint32_t addresses;                                               /* number of distinct addresses */
  uint32_t from, stride;                                            /* the first one, and the distance */
  uint32_t noise, slower;                                           /* see drawn(); slower: percent */
  uint64_t events;                                                  /* of the trace of a process; 0: no trace */
  uint32_t messages, steps;                                         /* of a rank; of a cycle.  messages 0: no job */
  bool ranks;
  const char *module, *directory;
  FILE *model;
};

/* The file that is being written. */
struct output {
  FILE *file;
  ZSTD_CCtx *zstd;
  uint8_t *packed;
  size_t packed_room;
  struct format_node *nodes;
  uint32_t *depths;
  uint64_t (*values)[COLUMNS];
  uint32_t nodes_count, values_count;
};

/* splitmix64: Steele, Lea, Flood, OOPSLA'14. */
static uint64_t draw(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

static void fail(const char *what)
{
  perror(what);
  exit(1);
}

static void *take(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (!memory)
    fail("synthesize");
  return memory;
}

static void put_part(void *context, uint32_t table, uint32_t owner, uint32_t first, uint32_t count,
                     uint32_t record_size, const void *records)
{
  struct output *output = context;
  size_t bound = format_pack_bound((size_t)count * record_size);
  if (bound > output->packed_room) {
    free(output->packed);
    output->packed = take(bound, 1);
    output->packed_room = bound;
  }
  struct format_extent head = {
      .table = (uint16_t)table, .owner = owner, .first = first, .count = count, .record_size = record_size};
  size_t size = format_pack(&head, records, output->zstd, output->packed, output->packed_room);
  if (!size || fwrite(output->packed, 1, size, output->file) != size)
    fail("synthesize: cannot write");
}

static void put(struct output *output, uint32_t table, uint32_t owner, uint32_t count, uint32_t record_size,
                const void *records)
{
  put_part(output, table, owner, 0, count, record_size, records);
}

static uint32_t address(const struct shape *shape, uint64_t number)
{
  return shape->from + (uint32_t)(number % shape->addresses) * shape->stride;
}

/* Adds a frame below an existing node, mostly the last one. */
static void add_frame(const struct shape *shape, struct output *output, uint64_t *state)
{
  uint32_t count = output->nodes_count, parent = count - 1;
  bool back = draw(state) % 4 == 0 || output->depths[parent] >= shape->depth;
  if (count <= REGION_NODE + 1 || shape->depth <= output->depths[REGION_NODE] + 1)
    parent = REGION_NODE;
  else if (back)
    do
      parent = REGION_NODE + (uint32_t)(draw(state) % (count - REGION_NODE));
    while (output->depths[parent] >= shape->depth);
  uint32_t offset = address(shape, draw(state)) | (parent == REGION_NODE ? BODY : 0);
  output->nodes[count] =
      (struct format_node){.kind_what = FORMAT_KIND_FRAME << 24 | 1, .offset = offset, .parent = parent};
  output->depths[count] = output->depths[parent] + 1;
  output->nodes_count++;
}

/* Samples of a context as a run with that noise finds them: the number of a Poisson process, in steps of 1/256 of a
 * sample.  Contexts at the first address have more of them by a percentage. */
static uint64_t drawn(const struct shape *shape, const struct format_node *node, uint64_t samples, uint64_t *state)
{
  enum { STEPS = 256 };
  bool first = (node->offset & ~BODY) == address(shape, 0);
  uint64_t steps = samples * STEPS * (100 + (first ? shape->slower : 0)) / 100, found = 0;
  if (!shape->noise)
    return steps / STEPS;
  for (uint64_t i = 0; i < steps; i++)
    found += draw(state) % STEPS == 0;
  return found;
}

/* Every second context has values. */
static void add_values(const struct shape *shape, struct output *output, uint64_t *state)
{
  uint64_t noise = *state ^ shape->noise * 0x2545f4914f6cdd1dULL;
  output->values_count = 1;
  for (uint32_t i = REGION_NODE + 1; i < output->nodes_count; i++) {
    uint64_t number = draw(state);
    if (number % 2)
      continue;
    uint64_t samples = drawn(shape, &output->nodes[i], 1 + number / 2 % 20, &noise);
    uint64_t work_ns = samples ? samples * 5000000 + number / 64 % 1000000 : 0;
    bool overhead = number / 2 % 8 == 0;
    uint64_t *values = output->values[output->values_count];
    memcpy(values,
           (const uint64_t[COLUMNS]){samples, overhead ? 0 : work_ns, overhead ? work_ns : 0,
                                     number / 32 % 64 ? 0 : work_ns / 10, work_ns / 2, work_ns * 9 / 8},
           sizeof *output->values);
    output->nodes[i].value = output->values_count++;
  }
}

static void make_tree(const struct shape *shape, struct output *output, uint32_t process, uint32_t thread)
{
  uint64_t owner = shape->common < 100 ? (uint64_t)process << 32 | thread : 0;
  uint64_t common = shape->seed, own = shape->seed ^ owner * 0x2545f4914f6cdd1dULL;
  uint32_t last = shape->contexts > REGION_NODE + 1 ? shape->contexts : REGION_NODE + 1;
  uint32_t shared = REGION_NODE + (uint32_t)((uint64_t)(last - REGION_NODE) * shape->common / 100);
  output->nodes[0] = (struct format_node){.kind_what = FORMAT_KIND_ROOT << 24};
  if (thread == 1)
    output->nodes[1] =
        (struct format_node){.kind_what = FORMAT_KIND_FRAME << 24 | 1, .offset = address(shape, shape->seed)};
  else
    output->nodes[1] = (struct format_node){.kind_what = FORMAT_KIND_LINK << 24 | 1, .offset = 1};
  output->nodes[REGION_NODE] = (struct format_node){.kind_what = FORMAT_KIND_PARALLEL << 24, .parent = 1};
  output->nodes_count = REGION_NODE + 1;
  output->depths[REGION_NODE] = 2;
  draw(&own);
  while (output->nodes_count <= last)
    add_frame(shape, output, output->nodes_count <= shared ? &common : &own);
  add_values(shape, output, &own);
}

/* Writes a line for each context with work: process, rank, thread, work, addresses from the outermost to the
 * innermost. */
static void write_model(const struct shape *shape, const struct output *output, uint32_t process, uint32_t thread)
{
  uint32_t *path = take(output->nodes_count, sizeof *path);
  for (uint32_t i = REGION_NODE + 1; shape->model && i < output->nodes_count; i++) {
    uint32_t count = 0;
    if (!output->nodes[i].value || !output->values[output->nodes[i].value][1])
      continue;
    for (uint32_t up = i; up > REGION_NODE; up = output->nodes[up].parent)
      path[count++] = output->nodes[up].offset;
    fprintf(shape->model, "%u %d %u %llu %x", process, shape->ranks ? (int)process : -1, thread,
            (unsigned long long)output->values[output->nodes[i].value][1], address(shape, shape->seed));
    while (count)
      fprintf(shape->model, " %x", path[--count]);
    fputc('\n', shape->model);
  }
  free(path);
}

/* Executions of both regions of the trace. */
static uint64_t cycles_of(const struct shape *shape)
{
  return shape->events / shape->threads / SYNTHETIC_CYCLE_STATES;
}

static void put_thread(const struct shape *shape, struct output *output, uint32_t process, uint32_t thread)
{
  make_tree(shape, output, process, thread);
  struct format_thread record = {
      .index = thread, .tid = 1000 + process * shape->threads + thread, .flags = FORMAT_THREAD_OPENMP};
  for (uint32_t i = 1; i < output->values_count; i++) {
    record.samples += output->values[i][0];
    record.cpu_ns += output->values[i][1] + output->values[i][2];
  }
  record.idle_ns = record.cpu_ns / 10;
  record.wall_ns = record.end_ns = record.cpu_ns + record.idle_ns;
  if (shape->events) {
    record.start_ns = SYNTHETIC_START * SYNTHETIC_UNIT_NS;
    record.wall_ns = cycles_of(shape) * SYNTHETIC_CYCLE * SYNTHETIC_UNIT_NS;
    record.end_ns = record.start_ns + record.wall_ns;
    record.region_ns = thread == 1 ? record.wall_ns / 2 : 0;
    synthetic_constructs(thread, cycles_of(shape), put_part, output);
  }
  record.lost[FORMAT_LOST_MEMORY] = thread % 8 == 0 ? thread : 0;
  record.work = record.cpu_ns;
  put(output, FORMAT_NODES, thread, output->nodes_count, sizeof *output->nodes, output->nodes);
  put(output, FORMAT_VALUES, thread, output->values_count, sizeof *output->values, output->values);
  put(output, FORMAT_THREAD, thread, 1, sizeof record, &record);
  write_model(shape, output, process, thread);
}

static void put_regions(const struct shape *shape, struct output *output)
{
  struct format_directive directives[3] = {{.kind = FORMAT_DIRECTIVE_PROGRAM}};
  for (uint32_t i = 1; i < 3; i++)
    directives[i] = (struct format_directive){
        .kind = FORMAT_DIRECTIVE_PARALLEL, .module = 1, .offset = address(shape, i), .instances = cycles_of(shape)};
  put(output, FORMAT_DIRECTIVES, 0, 3, sizeof *directives, directives);
}

/* Adds constructs in the threads' code, each with a part of the critical path. */
static uint64_t put_directives(const struct shape *shape, struct output *output)
{
  uint32_t count = shape->directives + 1;
  struct format_directive *directives = take(count, sizeof *directives);
  struct format_contribution *parts = take(count, sizeof *parts);
  uint64_t state = shape->seed, span = 0;
  for (uint32_t i = 1; i < count; i++) {
    uint64_t work = 1000000 + draw(&state) % 1000000;
    directives[i] = (struct format_directive){.kind = FORMAT_DIRECTIVE_FOR,
                                              .module = 1,
                                              .offset = address(shape, i),
                                              .instances = 10,
                                              .work = work * 4,
                                              .span = work * 2};
    parts[i] = (struct format_contribution){.directive = i,
                                            .thread = 1 + (uint32_t)(draw(&state) % shape->threads),
                                            .node = REGION_NODE + 1 + (uint32_t)(draw(&state) % shape->contexts / 2),
                                            .amount = work};
    span += work;
  }
  put(output, FORMAT_DIRECTIVES, 0, count, sizeof *directives, directives);
  put(output, FORMAT_CONTRIBUTIONS, 0, count - 1, sizeof *parts, parts + 1);
  free(directives);
  free(parts);
  return span;
}

struct strings {
  char text[4096];
  uint32_t size;
};

static uint32_t add_string(struct strings *strings, const char *text)
{
  uint32_t at = strings->size;
  int length = snprintf(strings->text + at, sizeof strings->text - at, "%s", text);
  strings->size += (uint32_t)length + 1;
  return at;
}

static void put_process(const struct shape *shape, struct output *output, uint32_t process, uint64_t span)
{
  static const struct {
    const char *name, *unit;
    uint32_t role;
  } columns[COLUMNS] = {{"samples", "", FORMAT_ROLE_SAMPLES},     {"work", "ns", FORMAT_ROLE_WORK},
                        {"overhead", "ns", FORMAT_ROLE_OVERHEAD}, {"lockwait", "ns", FORMAT_ROLE_LOCKWAIT},
                        {"per busy", "ns", FORMAT_ROLE_PER_BUSY}, {"in use", "ns", FORMAT_ROLE_IN_USE}};
  struct strings strings = {.size = 1};
  struct format_metric metrics[COLUMNS] = {0};
  char host[32];
  snprintf(host, sizeof host, "node%u", process / HOST_PROCESSES);
  for (uint32_t i = 0; i < COLUMNS; i++)
    metrics[i] = (struct format_metric){.name = add_string(&strings, columns[i].name),
                                        .unit = add_string(&strings, columns[i].unit),
                                        .role = columns[i].role,
                                        .period = 5000000};
  struct format_module modules[2] = {
      [1] = {.end = UINT64_MAX, .path = add_string(&strings, shape->module), .flags = FORMAT_MODULE_MAIN}};
  struct format_process record = {.pid = 1000 + process,
                                  .rank = shape->ranks ? (int32_t)process : -1,
                                  .flags = FORMAT_PROCESS_OMPT | FORMAT_PROCESS_ONLINE,
                                  .start_ns = 1700000000000000000 + process,
                                  .wall_ns = 10000000000,
                                  .cpu_ns = 9000000000,
                                  .cpus = shape->threads,
                                  .threads = shape->threads,
                                  .threads_max = shape->threads,
                                  .regions = 2 * cycles_of(shape),
                                  .span = span,
                                  .span_burdened = span,
                                  .tick_scale = UINT64_C(1) << 32};
  record.host = add_string(&strings, host);
  record.command = add_string(&strings, "./synthetic");
  record.runtime = add_string(&strings, "synthetic");
  record.work_unit = span ? add_string(&strings, "s") : 0;
  put(output, FORMAT_METRICS, 0, COLUMNS, sizeof *metrics, metrics);
  put(output, FORMAT_MODULES, 0, 2, sizeof *modules, modules);
  put(output, FORMAT_STRINGS, 0, strings.size, 1, strings.text);
  put(output, FORMAT_PROCESS, 0, 1, sizeof record, &record);
}

enum { PATH_BYTES = 4096 };

static void path_of(const struct shape *shape, uint32_t process, const char *suffix, char *path)
{
  snprintf(path, PATH_BYTES, "%s/node%u-%u-1%s", shape->directory, process / HOST_PROCESSES, 1000 + process, suffix);
}

static void open_file(const struct shape *shape, struct output *output, uint32_t process, const char *suffix)
{
  char path[PATH_BYTES];
  path_of(shape, process, suffix, path);
  output->file = fopen(path, "wb");
  if (!output->file)
    fail(path);
}

static void make_file(const struct shape *shape, struct output *output, uint32_t process)
{
  open_file(shape, output, process, FORMAT_SUFFIX);
  for (uint32_t thread = 1; thread <= shape->threads; thread++)
    put_thread(shape, output, process, thread);
  uint64_t span = shape->directives && !shape->events ? put_directives(shape, output) : 0;
  if (shape->events)
    put_regions(shape, output);
  put_process(shape, output, process, span);
  if (fclose(output->file))
    fail("synthesize: cannot write");
  if (!shape->events)
    return;
  open_file(shape, output, process, FORMAT_TRACE_SUFFIX);
  for (uint32_t thread = 1; thread <= shape->threads; thread++)
    synthetic_trace(thread, cycles_of(shape), REGION_NODE + 1, put_part, output);
  if (fclose(output->file))
    fail("synthesize: cannot write");
}

static void make_rank(const struct shape *shape, struct output *output, uint32_t rank)
{
  uint32_t each = 2 * shape->steps; /* messages of a rank in a cycle */
  const struct synthetic_job job = {.ranks = shape->processes,
                                    .threads = shape->threads,
                                    .steps = shape->steps,
                                    .cycles = (shape->messages + each - 1) / each};
  char path[PATH_BYTES];
  path_of(shape, rank, FORMAT_SUFFIX, path);
  synthetic_job_rank(&job, rank, path);
  open_file(shape, output, rank, ".graph");
  synthetic_job_log(&job, rank, put_part, output);
  if (fclose(output->file))
    fail("synthesize: cannot write");
}

static uint32_t number(const char *text)
{
  char *end;
  unsigned long value = strtoul(text, &end, 0);
  if (end == text || *end || value > UINT32_MAX) {
    fprintf(stderr, "synthesize: '%s' is no number\n", text);
    exit(2);
  }
  return (uint32_t)value;
}

static void parse(int argc, char **argv, struct shape *shape)
{
  static const struct option options[] = {{"processes", required_argument, NULL, 'p'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"contexts", required_argument, NULL, 'c'},
                                          {"depth", required_argument, NULL, 'd'},
                                          {"directives", required_argument, NULL, 'D'},
                                          {"common", required_argument, NULL, 'C'},
                                          {"addresses", required_argument, NULL, 'a'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"stride", required_argument, NULL, 'S'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"module", required_argument, NULL, 'm'},
                                          {"model", required_argument, NULL, 'M'},
                                          {"events", required_argument, NULL, 'e'},
                                          {"noise", required_argument, NULL, 'n'},
                                          {"slower", required_argument, NULL, 'w'},
                                          {"ranks", no_argument, NULL, 'r'},
                                          {"messages", required_argument, NULL, 'g'},
                                          {"steps", required_argument, NULL, 'x'},
                                          {0}};
  static const char help[] = "Usage: synthesize [--processes N] [--ranks] [--threads N] [--contexts N] [--depth N] "
                             "[--directives N]\n[--common PERCENT] [--addresses N] [--from OFFSET] [--stride BYTES] "
                             "[--module PATH] [--seed N] [--model FILE]\n[--events N] DIRECTORY\n"
                             "       synthesize --messages N [--processes N] [--threads N] [--steps N] DIRECTORY\n";
  uint32_t events = 0; /* of the trace of each process */
  uint32_t *const numbers[] = {
      ['p'] = &shape->processes,  ['t'] = &shape->threads, ['c'] = &shape->contexts,  ['d'] = &shape->depth,
      ['D'] = &shape->directives, ['C'] = &shape->common,  ['a'] = &shape->addresses, ['f'] = &shape->from,
      ['S'] = &shape->stride,     ['e'] = &events,         ['n'] = &shape->noise,     ['w'] = &shape->slower,
      ['g'] = &shape->messages,   ['x'] = &shape->steps};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 's')
      shape->seed = number(optarg);
    else if (option == 'r')
      shape->ranks = true;
    else if (option == 'm')
      shape->module = optarg;
    else if (option == 'M' && !(shape->model = fopen(optarg, "w")))
      fail(optarg);
    else if ((size_t)option < sizeof numbers / sizeof *numbers && numbers[option])
      *numbers[option] = number(optarg);
    else if (option == '?') {
      fputs(help, stderr);
      exit(2);
    }
  }
  if (optind + 1 != argc || !shape->threads || !shape->contexts || !shape->addresses || shape->common > 100 ||
      shape->depth < REGION_NODE + 1 ||
      (shape->messages && (shape->processes < 3 || !shape->steps || shape->steps > 40))) {
    fputs(help, stderr);
    exit(2);
  }
  shape->events = events;
  shape->directory = argv[optind];
}

int main(int argc, char **argv)
{
  struct shape shape = {.seed = 1,
                        .processes = 1,
                        .threads = 2,
                        .contexts = 1000,
                        .depth = 30,
                        .common = 90,
                        .addresses = 20000,
                        .from = 0x1000,
                        .stride = 16,
                        .steps = 10,
                        .module = "/synthetic/app"};
  parse(argc, argv, &shape);
  size_t room = (size_t)shape.contexts + REGION_NODE + 2;
  struct output output = {.zstd = ZSTD_createCCtx(),
                          .nodes = take(room, sizeof *output.nodes),
                          .depths = take(room, sizeof *output.depths),
                          .values = take(room, sizeof *output.values)};
  mkdir(shape.directory, 0777);
  for (uint32_t process = 0; process < shape.processes; process++)
    shape.messages ? make_rank(&shape, &output, process) : make_file(&shape, &output, process);
  if (shape.model && fclose(shape.model))
    fail("synthesize: cannot write the model");
  ZSTD_freeCCtx(output.zstd);
  free(output.packed);
  free(output.nodes);
  free(output.depths);
  free(output.values);
  return 0;
}
