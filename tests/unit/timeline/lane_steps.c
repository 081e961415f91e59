#include "tests/unit/timeline/lane_steps.h"

static char directory[] = "/tmp/test-lane-XXXXXX", base[64];
struct compose compose;
struct compose_trace trace;
static struct profile profile;
struct profile_process *process; /* the only one of the profile */
struct lane_process lanes;
struct problems problems;
uint64_t sampled; /* step of the last sample */

/* ---- a process with one thread, which lives from step 0 to LIFE ---- */

void begin(bool constructs)
{
  static const uint32_t kinds[RECORDS] = {0,
                                          FORMAT_DIRECTIVE_PARALLEL,
                                          FORMAT_DIRECTIVE_FOR,
                                          FORMAT_DIRECTIVE_CRITICAL,
                                          FORMAT_DIRECTIVE_PARALLEL,
                                          FORMAT_DIRECTIVE_LOCK,
                                          FORMAT_DIRECTIVE_ORDERED,
                                          FORMAT_CONSTRUCT_ATOMIC};
  compose_begin(&compose, COMPOSE_PACKED, 1, "./a");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, PERIOD * STEP);
  compose_metric(&compose, "overhead", "ns", FORMAT_ROLE_OVERHEAD, 0);
  compose.process.tick_scale = 1ULL << 32;
  compose.process.start_ticks = START_TICKS;
  compose.process.wall_ns = (uint64_t)LIFE * STEP;
  compose.process.flags |= constructs ? FORMAT_PROCESS_ONLINE : 0;
  compose.thread.end_ns = compose.thread.wall_ns = compose.process.wall_ns;
  for (uint32_t i = 0; i < RECORDS && constructs; i++)
    compose.constructs[compose_construct(&compose, 0, kinds[i], 0, 1)].flags = i == LINK ? FORMAT_CONSTRUCT_LINK : 0;
  for (uint32_t i = 0; i < SITES && !constructs; i++)
    compose_wait(&compose,
                 i == SITE_LOCK ? FORMAT_WAIT_LOCK
                 : i            ? FORMAT_WAIT_BARRIER
                                : FORMAT_WAIT_PARKED,
                 i, 0, 0, 0);
  traced_begin(&trace, START_TICKS);
  sampled = 0;
}

int setup(void **state)
{
  (void)state;
  begin(true);
  return 0;
}

char *path_with(const char *suffix)
{
  static char path[80];
  snprintf(path, sizeof path, "%s%s", base, suffix);
  return path;
}

void release(void)
{
  lane_process_close(&lanes);
  profile_release(&profile);
  profile = (struct profile){0};
  problems_release(&problems);
}

/* Writes both files and opens the lanes. */
void save(const char *suffix)
{
  struct read_file *file;
  release();
  remove(path_with(".hpcrun"));
  remove(path_with(".live"));
  compose_thread(&compose, 1);
  compose_end(&compose);
  assert_true(compose_write(&compose, path_with(suffix)));
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  assert_true(compose_write(&compose, path_with(".trace")));
  process = profile.processes = calloc(1, sizeof *process);
  profile.problems = calloc(1, sizeof *profile.problems);
  assert_true(process && profile.problems);
  profile.processes_count = 1;
  process->path = strdup(path_with(suffix));
  process->unfinished = !strcmp(suffix, ".live");
  assert_int_equal(read_open(process->path, &problems, process, &file), 0);
  read_close(file);
  assert_int_equal(lane_process_open(process, process->start_ns, &problems, &lanes), 0);
}

int end(void **state)
{
  (void)state;
  release();
  return 0;
}

/* ---- streams, in steps ---- */

void put(enum tracelog_form form, uint64_t record, unsigned time, uint64_t steps)
{
  traced_state(&trace, 1, form, record * FORMAT_TIMES + time, steps * STATE_UNITS, 0);
}

void put_own(uint64_t code, uint64_t steps, uint64_t own)
{
  traced_state(&trace, 1, TRACELOG_STATE_OWN, code, steps * STATE_UNITS, own * STATE_UNITS);
}

void work(uint64_t steps)
{
  put(TRACELOG_STATE, 0, BODY, steps);
}

void sample_more(enum tracelog_sample_kind kind, uint64_t step, uint64_t node, uint64_t weight, uint64_t tool,
                 uint64_t delay)
{
  traced_sample(&trace, 1, kind, (step - sampled) * SAMPLE_UNITS, node, weight * STEP, tool * NS_UNITS,
                delay * NS_UNITS);
  sampled = step;
}

void sample(enum tracelog_sample_kind kind, uint64_t step, uint64_t node, uint64_t weight)
{
  sample_more(kind, step, node, weight, 0, 0);
}

void put_number(enum tracelog_op op, uint64_t number)
{
  traced_op(&trace, 1, op, op == TRACELOG_HOLDER || op == TRACELOG_GAP, &number);
}

/* ---- what is expected ---- */

/* Appends an interval as text: CATEGORY/RECORD:NODE@HOLDER* UNTIL, where UNTIL is its end in steps, and * says that an
 * execution begins; without what is 0. */
void append(char *text, size_t size, const struct lane_interval *interval)
{
  size_t length = strlen(text);
#define more(...) (length += (size_t)snprintf(text + length, size - length, __VA_ARGS__))
  assert_true(length + 100 < size && interval->category < TIMELINE_CATEGORIES);
  more("%s%s", length ? ", " : "", timeline_category_name((enum timeline_category)interval->category));
  if (interval->record)
    interval->record == MODEL_NONE ? more("/?") : more("/%u", interval->record);
  if (interval->node)
    more(":%u", interval->node);
  if (interval->holder)
    more("@%u", interval->holder);
  more("%s %g", interval->begins ? "*" : "", (double)interval->end_ns / STEP);
#undef more
}

/* The thread did that.  The intervals must tile its life. */
void expect_text(const char *expected)
{
  char text[4096] = "";
  struct lane *lane = lane_open(&lanes, 0, 0, UINT64_MAX, &problems);
  struct lane_interval interval;
  uint64_t at = 0;
  for (; lane_next(lane, &interval); at = interval.end_ns) {
    assert_int_equal(interval.start_ns, at);
    append(text, sizeof text, &interval);
  }
  assert_string_equal(text, expected);
  const struct profile_thread *thread = &process->threads[0];
  assert_int_equal(at, thread->end_ns ? thread->end_ns : process->wall_ns);
  lane_close(lane);
}

/* Writes the files of a process that ended in order, or was killed. */
void expect(const char *expected)
{
  save(".hpcrun");
  expect_text(expected);
}

void expect_killed(const char *expected)
{
  compose.thread.end_ns = 0;
  save(".live");
  expect_text(expected);
}

int make_directory(void **state)
{
  (void)state;
  lanes.trace.file.fd = -1;
  if (!mkdtemp(directory))
    return -1;
  snprintf(base, sizeof base, "%s/a", directory);
  return 0;
}

int remove_directory(void **state)
{
  (void)state;
  remove(path_with(".hpcrun"));
  remove(path_with(".live"));
  remove(path_with(".trace"));
  return rmdir(directory);
}
