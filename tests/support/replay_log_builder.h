/* Graph logs, written record by record in the order of time, and replayed: for the tests of the log reader and of the
 * replay. */
#ifndef TESTS_UNIT_TOLD_H
#define TESTS_UNIT_TOLD_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/replay.h"
#include "tests/support/compose_log.h"
#include "tests/support/unit.h"

enum row { PROGRAM, PARALLEL, LOOP, TASK, GROUP, CRITICAL, ORDERED, REGION_A, REGION_B, ROWS };

struct name {
  uint32_t thread, number;
};

extern struct compose_log log_reader_log;
extern struct compose compose; /* the measurement that save() wrote to path */
extern uint64_t now;
extern char path[64];
extern struct problems problems;
extern struct attribution attribution;
extern const struct name none;
extern double by_row[REPLAY_SCENARIOS][ROWS], by_part[REPLAY_SCENARIOS][64];

#define put(thread, ...)                                                                                               \
  (log_at(&log_reader_log, thread, now), log_put(&log_reader_log, thread, __VA_ARGS__), (void)now++)

void begin(void);
void u(uint32_t thread, uint64_t work);
struct name implicit(uint32_t thread, struct name region, uint32_t size);
struct name region(uint32_t thread, enum row row);
struct name task(uint32_t thread, struct name creator, unsigned flags);
void on_task(uint32_t thread, enum graphlog_op op, struct name task);
void wait_begin(uint32_t thread, struct name task, enum graphlog_wait kind);
void wait_end(uint32_t thread, struct name task, enum graphlog_wait kind);
struct name new_join(uint32_t thread);
void on_join(uint32_t thread, enum graphlog_op op, struct name task, struct name join);
void run_task(uint32_t thread, struct name task, uint64_t work, struct name next);
void barrier(uint32_t threads, const struct name *team);
void fork_team(uint32_t first, uint32_t threads, struct name *team);
/* Begins a program whose first thread forks a team at once. */
void begin_team(uint32_t threads, struct name *team);
void join_team(uint32_t threads, const struct name *team);
void save(enum compose_form form);
bool replay_file(struct replay_request *request, struct replay_result *result);
struct replay_result ask(struct replay_request request);
struct replay_result measured(void);
int end(void **state);
void expect(uint64_t work, double span);
void expect_row(enum row row, uint64_t instances, uint64_t work, double span);
void chunks(uint32_t threads, const struct name *team, uint32_t count, uint64_t (*work)(uint32_t));
uint64_t growing(uint32_t i);
uint64_t ten(uint32_t i);
void loop_program(uint32_t threads);
struct replay_request scenarios(uint32_t count);

#endif
