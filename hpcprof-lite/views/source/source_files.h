/* Finds source files, and reads their lines.
 *
 * Context: BATCH, one thread.  A file is looked for at the path of the debug information, which the symbolizer has
 * joined to the compilation directory, if that is absolute, then below the directories of --source-path.  What is read
 * is kept until source_files_release(), up to SOURCE_FILES_MOST bytes.  Files are hostile: they may be missing, not
 * text, or of any size.
 */
#ifndef HPCPROF_LITE_VIEWS_SOURCE_SOURCE_FILES_H
#define HPCPROF_LITE_VIEWS_SOURCE_SOURCE_FILES_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

#include <stddef.h>

enum {
  SOURCE_FILE_MOST = 64 << 20,              /* bytes of a file that is read */
  SOURCE_FILES_MOST = 2 * SOURCE_FILE_MOST, /* bytes of all files */
  SOURCE_TEXT_MAX = 1024                    /* bytes of a line that is shown, with NUL */
};

/* What is wrong with a file. */
enum source_fault {
  SOURCE_SOUND,
  SOURCE_MISSING,
  SOURCE_UNREADABLE, /* see `reason` */
  SOURCE_SHORT,      /* it ends before the last line with figures */
  SOURCE_NEWER,
  SOURCE_NAMESAKE, /* only its name is the recorded one, not its directory */
  SOURCE_FAULTS
};

struct source_file {
  const char *path;     /* as the debug information names it */
  char *found;          /* where it is; NULL: nowhere */
  const char *reason;   /* why a file that was found cannot be read, or NULL */
  bool newer;           /* it was changed after the measurement had begun */
  bool moved, namesake; /* it is not at `path`; nothing but its name is the same */
  uint32_t last;        /* the last line that source_files_find() was called for */
  uint8_t *bytes;
  uint32_t *starts; /* [line - 1] where it starts; [lines] the end */
  uint32_t lines;   /* 0: nothing could be read */
};

struct source_files {
  char **directories; /* of --source-path, absolute */
  uint32_t directories_count;
  size_t directories_room;
  uint64_t since_ns; /* when the measurement began, CLOCK_REALTIME; 0: not known */
  struct source_file *files;
  uint32_t count;
  size_t room;
  struct hash_map map; /* hash of a path to its number + 1 */
  size_t bytes;        /* of all files */
};

/* Adds a directory of --source-path.  Returns 0, or ERR_INPUT if it is not a directory. */
int source_files_add_directory(struct source_files *files, const char *path);

/* Finds the file with that path ("": not known), in which the given line (0: not known) has figures, and reads it,
 * unless that was done before.  Sets *number to its number in `files`.  A file that is not found or not readable is not
 * a failure. */
void source_files_find(struct source_files *files, const char *path, uint32_t line, uint32_t *number);

/* The first fault that applies to a file. */
enum source_fault source_file_fault(const struct source_file *file);

/* Returns the file with that path if source_files_find() has been called for it, else NULL. */
const struct source_file *source_files_known(const struct source_files *files, const char *path);

/* Writes the text of a line without its line end, with tabs as spaces and NUL as '?'.  A line that is too long ends in
 * "...".  Returns false if there is no such line. */
bool source_files_line(const struct source_file *file, uint32_t line, char out[SOURCE_TEXT_MAX]);

void source_files_release(struct source_files *files);

#endif
