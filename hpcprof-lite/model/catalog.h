/* Modules and value columns of all processes, each interned once.
 *
 * Context: BATCH.  Threads that read files intern at the same time: every function but init, release and the plain
 * reads after merging takes the catalog's lock.  Numbers are handed out in order of arrival, which depends on
 * scheduling: whatever must be reproducible orders modules by catalog_module_rank() and columns by role and name, never
 * by number.
 */
#ifndef HPCPROF_LITE_MODEL_CATALOG_H
#define HPCPROF_LITE_MODEL_CATALOG_H

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/model/model.h"

#include <pthread.h>

enum {
  CATALOG_COLUMNS_MAX = 64,           /* bounds the memory of a context, whatever the files say */
  CATALOG_COLUMNS_OWN = 2,            /* of them, for what no file has but is made of it        */
  CATALOG_MODULES_MAX = (1 << 24) - 1 /* what a context node has room for                       */
};

/* What a column holds.  PER_BUSY and IN_USE occur in a file only: stitching makes IDLENESS of them. */
enum column_role {
  COLUMN_SAMPLES,
  COLUMN_WORK,
  COLUMN_OVERHEAD,
  COLUMN_EVENT,
  COLUMN_LOCKWAIT,
  COLUMN_PER_BUSY,
  COLUMN_IN_USE,
  COLUMN_STORED, /* roles of a file are below */
  COLUMN_IDLENESS = COLUMN_STORED,
  COLUMN_CRITICAL /* what a context contributes to the span of the run: made by span_merge.c */
};

/* What one column of the contexts' values means.  Equal name, unit and role make the same column in all processes. */
struct profile_column {
  char *name, *unit;
  uint32_t role;
  uint64_t period;
};

enum module_flag {
  MODULE_MAIN = 1,
  MODULE_TOOL = 2,
  MODULE_RUNTIME = 4,
  MODULE_SYSTEM = 8,
  MODULE_VDSO = 16,
  MODULE_ANON = 32,
  MODULE_USER_REGION = 1 << 16 /* no module: the name of a user region */
};

/* One loaded file, the same for all processes: path and build id are its identity. */
struct profile_module {
  char *path;
  const char *name; /* last part of path */
  uint8_t build_id[20];
  uint32_t build_id_size;
  uint32_t flags;
};

struct catalog {
  pthread_mutex_t lock;
  struct profile_module *modules;
  uint32_t modules_count;
  size_t modules_room;
  struct index module_index; /* module numbers + 1 */
  struct profile_column *columns;
  uint32_t columns_count;
  size_t columns_room;
};

void catalog_init(struct catalog *catalog);
void catalog_release(struct catalog *catalog);

/* Number of the module with that path and build id; flags are united.  PROFILE_NONE without memory. */
uint32_t catalog_module(struct catalog *catalog, const char *path, const uint8_t *build_id, uint32_t build_id_size,
                        uint32_t flags);

/* Number of the column with that name, unit and role; the larger period is kept.  0, ERR_NOMEM, or ERR_INPUT where
 * there are too many; the number is then PROFILE_NONE. */
int catalog_column(struct catalog *catalog, const struct profile_column *column, uint32_t *number);

/* Fills rank[module number] with the module's place in the order of path and build id.  0, or ERR_NOMEM. */
int catalog_module_rank(const struct catalog *catalog, uint32_t *rank);

/* Fills order[] with the column numbers in the order of role, name, unit. */
void catalog_column_order(const struct catalog *catalog, uint32_t *order);

#endif
