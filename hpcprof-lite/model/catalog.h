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
#include "hpcprof-lite/model/profile.h"

#include <pthread.h>

enum {
  CATALOG_COLUMNS_MAX = 64,           /* bounds the memory of a context, whatever the files say */
  CATALOG_COLUMNS_OWN = 2,            /* of them, for what no file has but is made of it        */
  CATALOG_MODULES_MAX = (1 << 24) - 1 /* what a context node has room for                       */
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
