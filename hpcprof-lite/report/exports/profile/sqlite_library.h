/* What the export needs of libsqlite3.
 *
 * Context: BATCH, main thread only.  sqlite_library.c, which is built as a module, is the only file that includes
 * SQLite.  Functions that return int return 0, or ERR_INPUT, which failure() explains.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_SQLITE_LIBRARY_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_SQLITE_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#define SQLITE_LIBRARY_SYMBOL "sqlite_library"

struct sqlite_library {
  int (*open)(const char *path);       /* of an empty file */
  int (*execute)(const char *command); /* without results */
  int (*prepare)(const char *command); /* an insertion, which replaces the one before */
  /* The next values of a row; text need not end in NUL and must live until end_row(). */
  void (*number)(int64_t value);
  void (*real)(double value);
  void (*text)(const char *value, size_t size);
  void (*null)(void);
  int (*end_row)(void); /* inserts it */
  const char *(*failure)(void);
  int (*close)(void);
};

#endif
