/* What the export needs of libotf2.
 *
 * Context: BATCH, main thread only.  otf2_library.c, which is built as a module, is the only file that includes OTF2.
 * otf2.c loads it, so that all other reports neither load nor need the library.  References are the caller's numbers.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_OTF2_LIBRARY_H
#define HPCPROF_LITE_REPORT_EXPORTS_OTF2_LIBRARY_H

#include "hpcprof-lite/timeline/mpi_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTF2_LIBRARY_SYMBOL "otf2_library"
#define OTF2_NO_STRING UINT32_MAX

struct otf2_region {
  uint32_t number, name, file, line; /* name and file: strings */
  uint32_t category;                 /* enum timeline_category, MODEL_NONE for a construct */
  uint32_t kind;                     /* enum construct_kind */
  uint32_t mpi;                      /* enum mpi_kind + 1; 0: no function of MPI */
};

struct otf2_communicator {
  uint32_t number, name, parent;  /* from 1; a string; parent 0: none */
  uint32_t world;                 /* number of MPI_COMM_WORLD, 0: not known */
  const struct job_group *groups; /* two */
};

/* Calls come in this order.  Those that return int return 0 or an error.  finish() explains the first failure of all
 * calls; events after one are not written. */
struct otf2_library {
  int (*start)(const char *directory, const char *description); /* description: "": none */
  /* Events of one location after another. */
  int (*open_location)(uint64_t location);
  void (*enter)(uint64_t time, uint32_t region, uint32_t wait_for); /* wait_for: a string, or OTF2_NO_STRING */
  void (*leave)(uint64_t time, uint32_t region);
  void (*value)(uint64_t time, uint32_t counter, uint64_t value);
  void (*mpi)(const struct mpi_event *event); /* but calls, which are regions */
  int (*close_location)(void);
  /* Definitions; what they refer to comes first. */
  int (*clock)(uint64_t start, uint64_t length, uint64_t realtime);
  void (*string)(uint32_t number, const char *text);
  void (*wait_for)(uint32_t name, uint32_t description); /* the attribute with what is waited for */
  void (*region)(const struct otf2_region *region);
  void (*counter)(uint32_t number, uint32_t name);
  void (*node)(uint32_t number, uint32_t name, uint32_t class_name);
  void (*process)(uint32_t number, uint32_t name, uint32_t node);
  void (*location)(uint64_t number, uint32_t name, uint64_t events, uint32_t process, bool device);
  /* Of all ranks of MPI_COMM_WORLD, then communicators in the order of their numbers. */
  void (*ranks)(uint32_t name, uint32_t count, const uint64_t *locations);
  void (*communicator)(const struct otf2_communicator *communicator);
  /* After all definitions: marks, and user phases (length > 0), of one location after another; or NULL names only. */
  void (*mark)(uint64_t time, uint64_t length, uint64_t location, const char *text);
  /* Closes the archive.  NULL, or what has failed since start(). */
  const char *(*finish)(void);
};

#endif
