#include "hpcprof-lite/output.h"

#include "hpcprof-lite/invocation/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_finish(FILE *stream, const char *name)
{
  bool broken = fflush(stream) || ferror(stream);
  if (!broken)
    return 0;
  if (errno != EPIPE)
    job_print_error("cannot write %s: %s", name, strerror(errno));
  return EXIT_INPUT;
}

/* Returns the exit status for what printing has returned.  The caller prints why input ends early. */
static int printed(int status, FILE *stream, const char *name)
{
  if (status && !ferror(stream))
    return status == ERR_NOMEM ? job_no_memory() : EXIT_INPUT;
  return output_finish(stream, name);
}

/* Writes the report to a temporary file, which is renamed when it is complete. */
static int print_file(struct job *job, int (*print)(struct job *job))
{
  const char *name = job->options.output;
  char *temporary;
  if (asprintf(&temporary, "%s.XXXXXX", name) < 0)
    return job_no_memory();
  int fd = mkostemp(temporary, O_CLOEXEC);
  FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
  int status = EXIT_INPUT;
  if (!stream) {
    job_print_error("cannot write '%s': %s", name, strerror(errno));
    if (fd >= 0)
      close(fd);
    goto out;
  }
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  job->report.stream = stream;
  status = printed(print(job), stream, name);
  if (fclose(stream) && !status)
    status = EXIT_INPUT;
  if (!status && rename(temporary, name)) {
    job_print_error("cannot write '%s': %s", name, strerror(errno));
    status = EXIT_INPUT;
  }
out:
  if (status && fd >= 0)
    unlink(temporary);
  free(temporary);
  return status;
}

/* Whether the output is a regular file or does not exist yet, unlike /dev/stdout. */
static bool is_plain_output(const char *name)
{
  struct stat stat;
  return lstat(name, &stat) || S_ISREG(stat.st_mode);
}

/* Prints the report through a pager.  That this ends before it has read everything is no error. */
static int print_paged(struct job *job, struct pager *pager, int (*print)(struct job *job))
{
  job->report.stream = pager->stream;
  int status = print(job);
  if (!pager_finish(pager))
    return EXIT_INPUT;
  return !status ? 0 : status == ERR_NOMEM ? job_no_memory() : EXIT_INPUT;
}

int output_report(struct job *job, int (*print)(struct job *job))
{
  const char *name = job->options.output;
  struct pager pager;
  if (name && is_plain_output(name))
    return print_file(job, print);
  if (!name && !job->options.no_pager && job->options.format == OPTIONS_TEXT && pager_start(&pager))
    return print_paged(job, &pager, print);
  FILE *stream = name ? fopen(name, "we") : stdout;
  if (!stream) {
    job_print_error("cannot write '%s': %s", name, strerror(errno));
    return EXIT_INPUT;
  }
  job->report.stream = stream;
  int status = printed(print(job), stream, name ? name : "standard output");
  if (name && fclose(stream) && !status)
    status = EXIT_INPUT;
  return status;
}

/* ---- directories ---- */

static int cannot_write(const char *name, const char *why)
{
  job_print_error("cannot write '%s': %s", name, why);
  return EXIT_INPUT;
}

int output_is_new(const char *name)
{
  struct stat stat;
  return lstat(name, &stat) ? 0 : cannot_write(name, strerror(EEXIST));
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
  (void)stat, (void)kind, (void)place;
  return remove(path);
}

/* Writes into a temporary directory, which is renamed when it is complete. */
static int fill_directory(struct job *job, const char *name, const char *temporary, output_directory_writer *write)
{
  char message[512] = "";
  mode_t mask = umask(0);
  umask(mask);
  chmod(temporary, 0777 & ~mask);
  int status = write(&job->report, temporary, message, sizeof message);
  if (*message)
    return cannot_write(name, message);
  if (status)
    return status == ERR_NOMEM ? job_no_memory() : EXIT_INPUT;
  if (output_is_new(name))
    return EXIT_INPUT;
  return rename(temporary, name) ? cannot_write(name, strerror(errno)) : 0;
}

int output_directory(struct job *job, output_directory_writer *write)
{
  enum { DESCRIPTORS = 16 };
  char *name = strdup(job->options.output), *temporary = NULL;
  size_t length = name ? strlen(name) : 0;
  while (length > 1 && name[length - 1] == '/')
    name[--length] = '\0';
  if (!name || asprintf(&temporary, "%s.XXXXXX", name) < 0) {
    free(name);
    return job_no_memory();
  }
  int status = mkdtemp(temporary) ? 0 : cannot_write(name, strerror(errno));
  if (!status) {
    status = fill_directory(job, name, temporary, write);
    if (status)
      nftw(temporary, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
  }
  free(temporary);
  free(name);
  return status;
}
