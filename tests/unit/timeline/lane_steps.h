/* A process with one thread, for the tests of lanes: its trace is put in steps, and lanes are compared as text.
 *
 * The thread lives from step 0 to LIFE. */
#ifndef TESTS_UNIT_TIMELINE_LANE_STEPS_H
#define TESTS_UNIT_TIMELINE_LANE_STEPS_H

#include "hpcprof-lite/timeline/lane.h"
#include "tests/support/compose_trace.h"
#include "tests/support/unit.h"

/* A step is 0.512 ms, the period of the samples two of them; a tick is 1 ns. */
enum { LIFE = 40, STATE_UNITS = 16000, SAMPLE_UNITS = 125, NS_UNITS = 500, PERIOD = 2, START_TICKS = 1 << 20 };
enum { STEP = STATE_UNITS << TRACELOG_STATE_SHIFT };
enum { ENTER = FORMAT_TIME_ENTER, BODY = FORMAT_TIME_BODY, WAIT = FORMAT_TIME_WAIT, EXIT = FORMAT_TIME_EXIT };
enum { REGION = 1, LOOP, CRITICAL, LINK, LOCK, ORDERED, ATOMIC, RECORDS };
enum { PARKED, BARRIER, SITE_LOCK, SITES };

extern struct compose compose;
extern struct compose_trace trace;
extern struct profile_process *process; /* the only one of the profile */
extern struct lane_process lanes;
extern struct problems problems;
extern uint64_t sampled; /* step of the last sample */

void begin(bool constructs);
int setup(void **state);
char *path_with(const char *suffix);
void release(void);
void save(const char *suffix);
int end(void **state);
void put(enum tracelog_form form, uint64_t record, unsigned time, uint64_t steps);
void put_own(uint64_t code, uint64_t steps, uint64_t own);
void work(uint64_t steps);
void sample_more(enum tracelog_sample_kind kind, uint64_t step, uint64_t node, uint64_t weight, uint64_t tool,
                 uint64_t delay);
void sample(enum tracelog_sample_kind kind, uint64_t step, uint64_t node, uint64_t weight);
void put_number(enum tracelog_op op, uint64_t number);
void append(char *text, size_t size, const struct lane_interval *interval);
void expect_text(const char *expected);
void expect(const char *expected);
void expect_killed(const char *expected);
int make_directory(void **state);
int remove_directory(void **state);

#define lane_test(name) cmocka_unit_test_setup_teardown(name, setup, end)

#endif
