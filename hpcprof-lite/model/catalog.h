/* The modules and value columns of all processes, each stored once.
 *
 * Context: BATCH.  The threads that read files add entries at the same time: catalog_add_module() and
 * catalog_add_column() and catalog_add_identity() take the catalog's lock.  All other functions, and direct reads of
 * the fields, require that no thread adds entries any more.  The catalog owns its strings and arrays.
 *
 * Numbers are assigned in order of arrival, which depends on scheduling.  Output that must be reproducible orders
 * modules by catalog_module_rank() and columns by catalog_column_order(), never by number.
 */
#ifndef HPCPROF_LITE_MODEL_CATALOG_H
#define HPCPROF_LITE_MODEL_CATALOG_H

#include "common/file_identity.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

#include <pthread.h>

enum {
  CATALOG_COLUMNS_MAX = 64,                    /* bounds the memory of a context, whatever the files contain */
  CATALOG_COLUMNS_OWN = 3,                     /* of these, reserved for columns that hpcprof-lite computes  */
  CATALOG_COLUMNS_USER = 32,                   /* most of them that counters of the program may take         */
  CATALOG_PAGES_MAX = 4 * FILE_IDENTITY_PAGES, /* of a module, from all processes */
  CATALOG_MODULES_MAX = (1 << 24) - 1          /* limit of struct context_node's field                       */
};

/* What a column holds.  PER_BUSY and IN_USE occur in files only: stitching computes IDLENESS from them. */
enum column_role {
  COLUMN_SAMPLES,
  COLUMN_WORK,
  COLUMN_OVERHEAD,
  COLUMN_EVENT,
  COLUMN_LOCKWAIT,
  COLUMN_PER_BUSY,
  COLUMN_IN_USE,
  COLUMN_SHARES,
  COLUMN_STORED, /* the roles before this one occur in files */
  COLUMN_IDLENESS = COLUMN_STORED,
  COLUMN_CRITICAL, /* what a context contributes to the span of the run, see merge/span_merge.h */
  COLUMN_USER,     /* of a counter of the program */
  COLUMN_USER_CPU, /* with the next ones: what the kernel counted between samples */
  COLUMN_SYSTEM_CPU,
  COLUMN_PAGE_FAULTS,   /* minor and major ones */
  COLUMN_SWITCHES,      /* context switches, voluntary or not */
  COLUMN_CREATED,       /* threads that were created */
  COLUMN_CREATING,      /* how long that took */
  COLUMN_BLOCKED,       /* how long threads slept in calls outside OpenMP */
  COLUMN_BLOCKED_NEAR,  /* how long they slept elsewhere outside OpenMP: in the context of the next sample */
  COLUMN_BLOCKED_BYTES, /* bytes that these calls have moved */
  COLUMN_MPI,           /* how long threads were in calls of MPI */
  COLUMN_MET,           /* not 0 in contexts that the whole run has; only with COLUMN_OF_WHOLE */
  COLUMN_ROLES,
  COLUMN_OF_WHOLE = 32 /* added to a role: the figure of the whole run, where the others are those of a part; rows are
                          numbered by it */
};

/* What one column of the contexts' values means.  Columns with equal name, unit and role are the same column in all
 * processes. */
struct catalog_column {
  char *name, *unit;
  uint32_t role;
  uint64_t period;
};

enum module_flag {
  MODULE_MAIN = 1,             /* the executable                        */
  MODULE_TOOL = 2,             /* hpcrun-lite's library                 */
  MODULE_RUNTIME = 4,          /* the OpenMP runtime                    */
  MODULE_SYSTEM = 8,           /* libc and the dynamic loader           */
  MODULE_VDSO = 16,            /* the kernel's vdso, which has no file  */
  MODULE_ANON = 32,            /* generated code, in no module          */
  MODULE_USER_REGION = 1 << 16 /* not a module: `path` is the name of a user region */
};

/* One loaded file.  Path and build ID identify it in all processes; of generated code each function is a module. */
struct catalog_module {
  char *path;
  char *generated; /* name of the function of generated code; NULL: it is something else, or has no name */
  char *name;      /* last component of the path, of modules of Python without the tag of the version */
  uint8_t build_id[20];
  uint32_t build_id_size;
  uint32_t flags;
  struct file_identity identity; /* pages sorted by offset; all zero: nothing is recorded */
};

struct catalog {
  pthread_mutex_t lock;
  struct catalog_module *modules;
  uint32_t modules_count;
  size_t modules_room;
  struct hash_map module_map; /* module numbers + 1 */
  struct catalog_column *columns;
  uint32_t columns_count;
  size_t columns_room;
};

void catalog_init(struct catalog *catalog);
void catalog_release(struct catalog *catalog);

/* Finds or adds the module with that path and build ID, and adds `flags` to its flags.  Copies the path.  Returns its
 * number, or MODEL_NONE if there are CATALOG_MODULES_MAX modules. */
uint32_t catalog_add_module(struct catalog *catalog, const char *path, const uint8_t *build_id, uint32_t build_id_size,
                            uint32_t flags);

/* Finds or adds the function of generated code with that name, whose modules have that path.  Returns as above. */
uint32_t catalog_add_generated(struct catalog *catalog, const char *path, const char *name);

/* Finds or adds a module of another catalog, with what is recorded of its file.  Returns as above. */
uint32_t catalog_add_same(struct catalog *catalog, const struct catalog_module *module);

/* Adds what a process has recorded of the file of a module: `differs` is set where that contradicts another process. */
void catalog_add_identity(struct catalog *catalog, uint32_t module, const struct file_identity *identity);

/* Finds or adds the column with that name, unit and role; of two periods the larger one is kept.  Copies the strings.
 * Returns 0 and sets *number; ERR_INPUT, with *number = MODEL_NONE, if there are too many columns. */
int catalog_add_column(struct catalog *catalog, const struct catalog_column *column, uint32_t *number);

/* Returns the position of the column with the name, unit and role of another one, or MODEL_NONE. */
uint32_t catalog_same_column(const struct catalog_column *columns, uint32_t count, const struct catalog_column *wanted);

/* Makes names of events and of the program's counters valid UTF-8 and different.  One that another column has gets
 * "_user" if it is a counter's, and a number if it still looks like another one. */
void catalog_distinguish(struct catalog *catalog);

/* Sets rank[module number] to the module's position in the order of path and build ID. */
void catalog_module_rank(const struct catalog *catalog, uint32_t *rank);

/* Fills order[] with the column numbers, sorted by role, name and unit. */
void catalog_column_order(const struct catalog *catalog, uint32_t *order);

#endif
