/* What devices did when: as far as the host knows, from the intervals of its threads, and as devices have recorded it.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_DEVICE_USES_H
#define HPCPROF_LITE_REPORT_DEVICE_USES_H

#include "hpcprof-lite/report/report.h"

enum device_action { DEVICE_COPY_TO, DEVICE_COPY_FROM, DEVICE_OTHER, DEVICE_ACTIONS };

/* Lanes of a device: what the host knows, and what the device has recorded of each action. */
enum device_track { DEVICE_HOST_VIEW, DEVICE_RECORDED, DEVICE_TRACKS = DEVICE_RECORDED + DEVICE_ACTIONS };

struct device_use {
  uint32_t process, device; /* position; number as in struct format_directive */
  uint32_t track;           /* enum device_track; recorded: DEVICE_RECORDED + action */
  uint32_t action;          /* enum device_action; OTHER: the remaining time of target constructs, but target data;
                               recorded: a region */
  uint32_t construct;       /* entry of the tree of constructs: of the operation, or of the target construct */
  uint64_t start_ns, end_ns;
};

/* A lane of a device. */
struct device_lane {
  uint32_t process, device, track; /* as in struct device_use */
  uint32_t first, end;             /* its uses, in the order of time: [first, end) */
};

struct device_lanes {
  struct device_lane *lanes; /* by process, device and track */
  uint32_t count;
  struct device_use *uses;
  uint32_t uses_count;
  size_t room, uses_room;
};

typedef void device_uses_visit(void *context, const struct device_use *use);

/* Delivers the uses of all devices in the range; those of a track follow each other and do not overlap, whatever the
 * threads' intervals do: of operations that do, the part in which an earlier one goes on is left out.  Nothing without
 * devices.  Returns 0 or an error.  Memory: 24 bytes for each operation that devices have recorded. */
int device_uses_each(const struct report *report, device_uses_visit *visit, void *context);

/* The same, lane by lane: 40 bytes a use.  The caller releases the lanes, also after an error. */
int device_lanes_read(const struct report *report, struct device_lanes *lanes);
void device_lanes_release(struct device_lanes *lanes);

/* How many operations of a device have a record, of how many that should.  0 of 0 in a part of the run. */
struct device_recorded {
  uint64_t recorded, expected;
};
struct device_recorded device_uses_recorded(const struct report *report, uint32_t process, uint32_t device,
                                            uint32_t track);

#endif
