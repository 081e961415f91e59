/* Phases of synthetic sequences of regions: patterns with their repetitions, serial parts, figures that add up. */
#include "hpcprof-lite/analysis/phases.h"
#include "tests/support/unit.h"

enum { MS = 1000000, PERIOD = MS / 2, A = 1, B, C, D, CONSTRUCTS };

/* A run that is being made. */
static struct phases_region regions[100000];
static struct phases_gap gaps[10];
static uint32_t count, gaps_count;
static uint64_t now;
static struct tree_row rows[10]; /* below the root */
static const struct tree tree = {.rows = rows, .count = 10};

static void region(uint32_t construct, uint64_t ns)
{
  regions[count++] = (struct phases_region){.start_ns = now, .end_ns = now + ns, .construct = construct};
  now += ns;
}

static void gap(uint64_t ns)
{
  gaps[gaps_count++] = (struct phases_gap){.start_ns = now, .end_ns = now + ns};
  now += ns;
}

static void begin(uint64_t serial_ns)
{
  count = gaps_count = 0;
  now = serial_ns;
}

/* Cuts the run into parts, in which phases and steps have the executions and times of the whole. */
static void check_parts(const struct phases_regions *found, const struct phases *whole)
{
  enum { PARTS = 7 };
  uint64_t random = 11, from = 0, to = 0;
  struct phases_spread *phases_left = calloc(whole->count, sizeof *phases_left);
  struct phases_spread *steps_left = calloc(whole->steps_count, sizeof *steps_left);
  for (uint32_t part = 0; part < PARTS; part++, from = to) {
    struct phases phases;
    random = random * 6364136223846793005 + 1442695040888963407;
    to = part + 1 == PARTS ? UINT64_MAX : from + (random >> 32) % (2 * now / PARTS);
    phases_find(found, CONSTRUCTS, 0, now, &phases);
    phases_cut(&phases, from, to, true);
    assert_int_equal(phases.count, whole->count);
    for (uint32_t i = phases.first; i < phases.end; i++) {
      const struct phases_phase *phase = &phases.phases[i], *uncut = &whole->phases[i];
      bool inside = uncut->start_ns >= from && uncut->end_ns <= to;
      assert_int_equal(phase->coverage, inside ? PHASES_WHOLE : PHASES_PART);
      assert_in_range(phase->start_ns, from, phase->end_ns - 1);
      assert_in_range(phase->end_ns, from, to);
      phases_left[i].count += phase->spread.count;
      phases_left[i].total_ns += phase->spread.total_ns;
      assert_in_range(phase->spread.whole, 0, phase->spread.count);
      if (uncut->spread.slowest_start_ns >= from && uncut->spread.slowest_start_ns + uncut->spread.slowest_ns <= to &&
          uncut->kind == PHASES_PATTERN)
        assert_int_equal(phase->spread.slowest, uncut->spread.slowest);
      for (uint32_t j = phase->first_step; j < phase->first_step + phase->steps; j++) {
        steps_left[j].count += phases.steps[j].spread.count;
        steps_left[j].total_ns += phases.steps[j].spread.total_ns;
      }
    }
    phases_release(&phases);
  }
  for (uint32_t i = 0; i < whole->count; i++) {
    assert_int_equal(phases_left[i].count, whole->phases[i].spread.count);
    assert_int_equal(phases_left[i].total_ns, whole->phases[i].spread.total_ns);
  }
  for (uint32_t i = 0; i < whole->steps_count; i++) {
    assert_int_equal(steps_left[i].count, whole->steps[i].spread.count);
    assert_int_equal(steps_left[i].total_ns, whole->steps[i].spread.total_ns);
  }
  free(phases_left);
  free(steps_left);
}

/* Finds the phases, adds one lane that works all the time, and checks that everything adds up. */
static struct phases find(void)
{
  struct phases phases;
  struct phases_cursor cursor = {0};
  struct phases_sums sums = {0};
  struct phases_regions found = {.regions = regions, .count = count, .gaps = gaps, .gaps_count = gaps_count};
  phases_find(&found, CONSTRUCTS, 0, now, &phases);
  phases.threads = 2;
  for (uint64_t at = 0; at < now; at += 700001) {
    struct timeline_interval interval = {
        .start_ns = at, .end_ns = at + 700001 < now ? at + 700001 : now, .context = (uint32_t)(at * 10 / now)};
    interval.wait_for = MODEL_NONE;
    phases_add(&phases, &cursor, &interval, &sums);
  }
  phases_finish(&phases, &sums, 1, &tree, PERIOD);
  phases_sums_release(&sums);
  uint64_t at = 0;
  for (uint32_t i = 0; i < phases.count; i++) {
    const struct phases_phase *phase = &phases.phases[i];
    uint64_t steps = 0, work = 0;
    assert_int_equal(phase->start_ns, at);
    at = phase->end_ns;
    for (uint32_t j = 0; j < phase->steps; j++) {
      steps += phases.steps[phase->first_step + j].spread.total_ns;
      work += phases.steps[phase->first_step + j].figures.ns[TIMELINE_WORK];
    }
    assert_int_equal(steps, phase->end_ns - phase->start_ns);
    assert_int_equal(work, steps);
    assert_int_equal(phase->figures.ns[TIMELINE_WORK], steps);
  }
  assert_int_equal(at, now);
  check_parts(&found, &phases);
  return phases;
}

/* The steps of a phase that took time, and their tokens, as text: "4x[A . B .]". */
static const char *form(const struct phases *phases, const struct phases_phase *phase)
{
  static char text[4096];
  size_t length = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < phase->tokens; i++) {
    const struct phases_token *token = &phases->tokens[phase->first_token + i];
    const struct phases_step *step = &phases->steps[token->step];
    size_t room = sizeof text - length;
    if (token->kind == PHASES_OPEN)
      length += (size_t)snprintf(text + length, room, "%gx[", token->times);
    else if (token->kind == PHASES_CLOSE)
      length += (size_t)snprintf(text + length, room, "]");
    else if (step->construct != MODEL_NONE)
      length += (size_t)snprintf(text + length, room, "%c", 'A' + (int)step->construct - 1);
    else if (step->into == token->step && step->spread.count)
      length += (size_t)snprintf(text + length, room, ".");
  }
  return text;
}

static void a_pattern_between_serial_phases(void **state)
{
  (void)state;
  begin(1200 * MS);
  for (uint32_t i = 1; i <= 400; i++) {
    region(A, 5 * MS);
    now += 2 * MS;
    region(B, (i == 173 ? 9 : 4) * MS);
    now += 1 * MS;
  }
  now += 300 * MS;
  struct phases phases = find();
  assert_int_equal(phases.count, 3);
  const struct phases_phase *phase = &phases.phases[1];
  assert_int_equal(phases.phases[0].kind, PHASES_SERIAL);
  assert_int_equal(phases.phases[2].kind, PHASES_SERIAL);
  assert_int_equal(phase->kind, PHASES_PATTERN);
  assert_int_equal(phase->start_ns, 1200 * MS);
  assert_int_equal(phase->end_ns, 1200 * MS + 400 * 12 * (uint64_t)MS + 5 * MS);
  assert_int_equal(phase->spread.count, 400);
  assert_int_equal(phase->spread.slowest, 173);
  assert_int_equal(phase->spread.slowest_ns, 17 * MS);
  assert_int_equal(phase->spread.slowest_start_ns, (1200 + 172 * 12) * (uint64_t)MS);
  assert_int_equal(phases.steps[phase->first_step + 3].spread.slowest_start_ns, (1200 + 172 * 12 + 7) * (uint64_t)MS);
  assert_float_equal(phase->spread.mean_ns, 12 * MS + 5.0 * MS / 400, 1);
  assert_float_equal(phases_deviation(&phase->spread), 0.25 * MS, 0.001 * MS); /* 5 ms / sqrt(400) */
  assert_string_equal(form(&phases, phase), "400x[A.B.]");
  assert_float_equal(phases_efficiency(&phases, &phase->figures, phase->end_ns - phase->start_ns), 50, 1e-6);
  phases_release(&phases);
}

static void loops_in_loops_and_short_serial_parts(void **state)
{
  (void)state;
  begin(3000); /* too short for a phase */
  for (uint32_t i = 0; i < 40; i++) {
    for (uint32_t j = 0; j < 10; j++) {
      region(A, MS);
      now += 5000;
      region(B, 2 * MS);
      now += 5000;
    }
    region(C, 3 * MS);
    region(C, 3 * MS);
    now += 4 * MS;
  }
  struct phases phases = find();
  assert_int_equal(phases.count, 1);
  assert_string_equal(form(&phases, phases.phases), "40x[10x[AB]2x[C.]]");
  assert_int_equal(phases.steps[1].spread.count, 400);
  assert_int_equal(phases.steps[5].spread.count, 80);
  phases_release(&phases);
}

static void inner_loops_of_different_lengths(void **state)
{
  (void)state;
  begin(0);
  for (uint32_t i = 0; i < 30; i++) {
    region(A, MS);
    for (uint32_t j = 0; j < 3 + i * 7 % 5; j++) {
      region(B, MS);
      region(C, MS);
    }
    now += MS;
  }
  struct phases phases = find();
  assert_int_equal(phases.count, 1);
  assert_string_equal(form(&phases, phases.phases), "30x[A5x[BC.]]");
  phases_release(&phases);
}

static void noise_around_a_pattern_belongs_to_it(void **state)
{
  (void)state;
  begin(1000);
  region(D, 100000);
  now += 1000;
  for (uint32_t i = 0; i < 500; i++) {
    region(A, MS);
    region(i == 499 ? C : B, MS);
  }
  region(C, 1000);
  struct phases phases = find();
  assert_int_equal(phases.count, 2); /* nothing comes before the first ones */
  assert_int_equal(phases.phases[1].spread.count, 499);
  assert_int_equal(phases.phases[1].end_ns, now);
  phases_release(&phases);
}

static void no_order_is_one_phase(void **state)
{
  (void)state;
  uint64_t random = 7;
  begin(0);
  for (uint32_t i = 0; i < 50000; i++) {
    random = random * 6364136223846793005 + 1442695040888963407;
    region(A + (uint32_t)(random >> 33) % 4, MS / 10 + (random >> 50));
    now += (random >> 20) % 1000;
  }
  struct phases phases = find();
  assert_int_equal(phases.count, 1);
  assert_int_equal(phases.phases[0].kind, PHASES_MIXED);
  assert_int_equal(phases.phases[0].regions, 50000);
  phases_release(&phases);
}

static void units_repeat_however_long_they_are(void **state)
{
  (void)state;
  for (uint32_t length = 2; length < 900; length = length * 2 + 1) {
    begin(0);
    for (uint32_t i = 0; i < 5; i++) {
      uint64_t random = 3;
      for (uint32_t j = 0; j < length; j++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        region(A + (uint32_t)(random >> 40) % 4, MS);
      }
    }
    struct phases phases = find();
    bool found = false;
    for (uint32_t i = 0; i < phases.count; i++)
      found = found || (phases.phases[i].kind == PHASES_PATTERN && phases.phases[i].spread.count >= 4);
    assert_true(found);
    phases_release(&phases);
  }
}

static void what_contains_a_gap_is_not_counted(void **state)
{
  (void)state;
  begin(10 * MS);
  gaps[gaps_count++] = (struct phases_gap){.end_ns = 10 * MS}; /* the part begins in the first repetition */
  for (uint32_t i = 1; i <= 20; i++) {
    region(A, (i == 9 ? 6 : 5) * MS);
    now += MS;
    if (i == 5)
      gap(50 * MS);
    region(B, 2 * MS);
    if (i == 12)
      gaps[gaps_count++] = (struct phases_gap){now - MS, now - MS + 100}; /* within the region */
  }
  now += 20 * MS;
  gap(30 * MS);
  now += 20 * MS;
  region(C, 40 * MS);
  struct phases phases = find();
  assert_int_equal(phases.count, 6);
  const struct phases_phase *phase = &phases.phases[1];
  const struct phases_spread *spread = &phase->spread, *of_region = &phases.steps[phase->first_step + 3].spread;
  assert_int_equal(phases.phases[0].kind, PHASES_GAP);
  assert_int_equal(phase->kind, PHASES_PATTERN);
  assert_int_equal(spread->count, 20);
  assert_int_equal(spread->whole, 17);
  assert_int_equal(spread->slowest, 9);
  assert_int_equal(spread->slowest_start_ns, (10 + 8 * 8 + 50) * (uint64_t)MS);
  assert_float_equal(spread->mean_ns, 8 * MS + MS / 17.0, 1);
  assert_int_equal(of_region->count, 20);
  assert_int_equal(of_region->whole, 18); /* one follows a gap */
  assert_int_equal(phases.phases[2].kind, PHASES_SERIAL);
  assert_int_equal(phases.phases[3].kind, PHASES_GAP);
  assert_int_equal(phases.phases[3].end_ns - phases.phases[3].start_ns, 30 * MS);
  assert_int_equal(phases.phases[3].figures.context, MODEL_NONE);
  assert_int_equal(phases.phases[4].kind, PHASES_SERIAL);
  assert_int_equal(phases.phases[5].kind, PHASES_REGION);
  phases_release(&phases);
}

static void a_pattern_ends_where_a_gap_begins(void **state)
{
  (void)state;
  begin(0);
  for (uint32_t i = 0; i < 10; i++) {
    region(A, 5 * MS);
    now += (i < 9 ? 4 : 1) * MS;
  }
  gap(100 * MS);
  struct phases phases = find();
  assert_int_equal(phases.count, 2);
  assert_int_equal(phases.phases[0].end_ns, gaps[0].start_ns);
  assert_int_equal(phases.phases[0].spread.whole, 9);
  assert_float_equal(phases_deviation(&phases.phases[0].spread), 0, 1e-6);
  assert_int_equal(phases.phases[1].kind, PHASES_GAP);
  phases_release(&phases);
}

static void runs_of_one_region_in_a_pattern(void **state)
{
  (void)state;
  begin(0);
  for (uint32_t i = 0; i < 20; i++) {
    for (uint32_t j = 0; j < 1 + i % 4; j++) {
      region(A, MS);
      now += MS;
    }
    region(B, MS);
  }
  struct phases phases = find();
  assert_int_equal(phases.count, 1);
  assert_string_equal(form(&phases, phases.phases), "20x[2.5x[A.]B]");
  phases_release(&phases);
}

static void two_repetitions_are_no_pattern(void **state)
{
  (void)state;
  begin(0);
  for (uint32_t i = 0; i < 5; i++) {
    region(i < 2 ? A : B, 5 * MS);
    now += MS;
  }
  struct phases phases = find();
  assert_int_equal(phases.count, 5);
  assert_int_equal(phases.phases[0].kind, PHASES_REGION);
  assert_int_equal(phases.phases[1].kind, PHASES_SERIAL);
  assert_int_equal(phases.phases[2].kind, PHASES_REGION);
  assert_int_equal(phases.phases[4].kind, PHASES_PATTERN);
  assert_int_equal(phases.phases[4].spread.count, 3);
  phases_release(&phases);
}

static void short_steps_have_no_context(void **state)
{
  (void)state;
  begin(200 * MS);
  region(A, 20 * MS);
  now += 20000; /* belongs to the phase of the region */
  struct phases phases = find();
  const struct phases_step *steps = &phases.steps[phases.phases[1].first_step];
  assert_int_equal(steps[2].spread.total_ns, 20000);
  assert_int_equal(steps[2].figures.context, MODEL_NONE);
  assert_int_not_equal(steps[1].figures.context, MODEL_NONE);
  assert_int_not_equal(phases.phases[1].figures.context, MODEL_NONE);
  phases_release(&phases);
}

static void a_process_without_regions_is_serial(void **state)
{
  (void)state;
  begin(MS);
  struct phases phases = find();
  assert_int_equal(phases.count, 1);
  assert_int_equal(phases.phases[0].kind, PHASES_SERIAL);
  phases_release(&phases);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_pattern_between_serial_phases),
                                     cmocka_unit_test(loops_in_loops_and_short_serial_parts),
                                     cmocka_unit_test(inner_loops_of_different_lengths),
                                     cmocka_unit_test(noise_around_a_pattern_belongs_to_it),
                                     cmocka_unit_test(no_order_is_one_phase),
                                     cmocka_unit_test(units_repeat_however_long_they_are),
                                     cmocka_unit_test(what_contains_a_gap_is_not_counted),
                                     cmocka_unit_test(a_pattern_ends_where_a_gap_begins),
                                     cmocka_unit_test(runs_of_one_region_in_a_pattern),
                                     cmocka_unit_test(two_repetitions_are_no_pattern),
                                     cmocka_unit_test(short_steps_have_no_context),
                                     cmocka_unit_test(a_process_without_regions_is_serial)};
  return UNIT_RUN(argc, argv, "phases", tests, NULL, NULL);
}
