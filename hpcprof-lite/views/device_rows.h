/* The devices: what they did for target constructs, how long they were idle, and what the host did meanwhile.
 *
 * Context: BATCH.  Pure.  Each device of a process has a row, and below it a row for each place of the program in which
 * threads of the host worked while it was idle, by time; strings belong to struct names.  The caller releases the rows.
 */
#ifndef HPCPROF_LITE_VIEWS_DEVICE_ROWS_H
#define HPCPROF_LITE_VIEWS_DEVICE_ROWS_H

#include "hpcprof-lite/views/call_places.h"

enum device_row_kind { DEVICE_ROW_DEVICE, DEVICE_ROW_WORK, DEVICE_ROW_REST };

/* Operations of one kind, in all threads. */
struct device_operations {
  uint64_t count, bytes;
  uint64_t ns;    /* as the host saw them, or as the device has recorded them, if it has recorded all */
  uint64_t timed; /* how many of them the device has recorded */
};

struct device_row {
  enum device_row_kind kind;
  uint32_t process;                    /* its position */
  uint32_t number;                     /* as the runtime has it */
  const struct profile_device *device; /* NULL: its times are not known */
  uint64_t targets, target_ns;         /* executions of target, and the time of threads in all target constructs */
  bool operations_known; /* the runtime reports them */
  struct device_operations to, from, allocated, freed, submitted;
  uint64_t idle_ns; /* of DEVICE_ROW_WORK: sampled, in all no more than the device's; of _REST: what is left, in which
                       no thread of the host ran */
  struct call_place place; /* of DEVICE_ROW_WORK */
  uint32_t row;            /* likewise: of the top-down tree, with most of the time; MODEL_NONE if not known */
};

struct device_rows {
  struct device_row *rows; /* by process and number; below a device by time, and what is left last */
  uint32_t count;
  uint32_t devices; /* of the rows */
};

/* row_of[context]: its row of the top-down tree. */
void device_rows_make(const struct profile *profile, const struct names *names, const uint32_t *row_of,
                      struct device_rows *rows);
void device_rows_release(struct device_rows *rows);

#endif
