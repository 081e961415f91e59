/* Reads the devices of a process.
 *
 * Context: BATCH.  The file is hostile: records of devices with numbers that do not exist are left out, and times are
 * at most the process's. */
#ifndef HPCPROF_LITE_MERGE_DEVICE_RECORDS_H
#define HPCPROF_LITE_MERGE_DEVICE_RECORDS_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/profile.h"

/* Fills in the devices that were used, by number.  Of a process that was killed, a device that was busy then counts as
 * busy until its end. */
void device_records_read(struct read_file *file, struct profile_process *process);

#endif
