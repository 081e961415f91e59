/* Files in a directory that others may write to: opened, made and removed so that no other file is reached instead.
 *
 * Context: BATCH.  Names are relative to a descriptor of the directory; links are not followed.  Keeps no
 * state.  Functions that return a descriptor return -1 with errno on failure.
 */
#ifndef COMMON_SAFE_FILE_H
#define COMMON_SAFE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SAFE_FILE_RANDOM = 6 }; /* letters of a name that safe_file_make() chooses */

/* Opens a directory; a link in its place is not followed. */
int safe_file_open_directory(const char *path);

/* Opens an existing file (access: O_RDONLY or O_RDWR) if it is a regular one, has one name, and belongs to that user;
 * errno is EPERM otherwise. */
int safe_file_open(int directory, const char *name, int access, uid_t owner);

/* Makes a file of mode 0600, and opens it for reading and writing.  The X that stand before the suffix, the last
 * suffix_length characters of the name, become letters that no other file has. */
int safe_file_make(int directory, char *name, size_t suffix_length);

/* Whether the name leads to the file that is open. */
bool safe_file_is_open_as(int directory, const char *name, int fd);

/* Removes the file if it is the one that is open. */
void safe_file_remove(int directory, const char *name, int fd);

#endif
