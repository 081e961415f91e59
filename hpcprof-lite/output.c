#include "hpcprof-lite/output.h"

#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/invocation/pager.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
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

/* Returns the exit status for what printing has returned, which has told why it failed unless the stream did. */
static int printed(int status, FILE *stream, const char *name)
{
  if (status && !ferror(stream))
    return EXIT_INPUT;
  return output_finish(stream, name);
}

/* ---- temporary files ---- */

/* What is being written, if anything: it must not stay when this process ends early; children leave it.  A signal's
 * handler cannot remove a directory. */
static const char *volatile unfinished, *unfinished_directory;
static pid_t owner;
static struct pager *paged; /* the pager that reads the report */

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
  (void)stat, (void)kind, (void)place;
  return remove(path);
}

static void remove_directory(const char *name)
{
  enum { DESCRIPTORS = 16 };
  nftw(name, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

void output_abandon(void)
{
  if (getpid() != owner)
    return;
  if (unfinished)
    unlink(unfinished);
  if (unfinished_directory)
    remove_directory(unfinished_directory);
  if (paged)
    pager_abandon(paged);
}

static void end_unfinished(int signal)
{
  const char *name = unfinished;
  if (name && getpid() == owner)
    unlink(name);
  raise(signal); /* its action is the default again */
}

static void remove_if_ended(const char *name)
{
  static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
  const struct sigaction action = {.sa_handler = end_unfinished, .sa_flags = SA_RESETHAND};
  struct sigaction present;
  unfinished = name;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (!sigaction(signals[i], NULL, &present) && present.sa_handler == SIG_DFL)
      sigaction(signals[i], &action, NULL);
}

static int cannot_write(const char *name, const char *why)
{
  assert(name && why);
  job_print_error("cannot write '%s': %s", name, why);
  return EXIT_INPUT;
}

/* Why no file of that name was created, for an error of the system. */
static const char *why_not_created(const char *name, int error)
{
  const char *slash = strrchr(name, '/');
  char *directory = slash ? xasprintf("%.*s", (int)(slash - name + 1), name) : xasprintf(".");
  bool exists = access(directory, F_OK) == 0;
  free(directory);
  return error == ENOENT && exists ? "no files can be created in this directory" : strerror(error);
}

/* Creates an empty file beside the one that it will replace.  Returns a descriptor, or -1 after it has printed why
 * there is none; *temporary is its name, for end_temporary(). */
static int create_temporary(const char *name, char **temporary)
{
  assert(name && !unfinished);
  *temporary = xasprintf("%s.XXXXXX", name);
  int fd = mkostemp(*temporary, O_CLOEXEC);
  mode_t mask = umask(0);
  umask(mask);
  if (fd >= 0) {
    remove_if_ended(*temporary);
    fchmod(fd, 0666 & ~mask);
  } else {
    cannot_write(name, why_not_created(name, errno));
    free(*temporary);
  }
  return fd;
}

/* Gives the file its name, or removes it if there is an exit status.  Returns the exit status. */
static int end_temporary(char *temporary, const char *name, int status)
{
  assert(temporary && name);
  if (!status && rename(temporary, name))
    status = cannot_write(name, strerror(errno));
  if (status)
    unlink(temporary);
  unfinished = NULL;
  free(temporary);
  return status;
}

/* Why an existing file must not be replaced by the report; NULL: it may be. */
static const char *obstacle(const char *name)
{
  struct stat status;
  if (stat(name, &status) == 0 && S_ISDIR(status.st_mode))
    return "it is a directory; name a file in it with -o";
  return read_is_measured(name) ? "it is a file of a measurement; name another one with -o" : NULL;
}

/* Writes the report to a temporary file, which is renamed when it is complete. */
static int print_file(struct job *job, int (*print)(struct job *job))
{
  const char *name = job->options.output;
  char *temporary;
  int fd = create_temporary(name, &temporary);
  if (fd < 0)
    return EXIT_INPUT;
  FILE *stream = fdopen(fd, "w");
  if (!stream)
    xalloc_die();
  job->report.stream = stream;
  int status = printed(print(job), stream, name);
  if (fclose(stream) && !status)
    status = EXIT_INPUT;
  return end_temporary(temporary, name, status);
}

/* Whether the output is a regular file or does not exist yet, unlike /dev/stdout. */
static bool is_plain_output(const char *name)
{
  struct stat stat;
  return lstat(name, &stat) || S_ISREG(stat.st_mode);
}

/* Prints the report through a pager.  If the pager ends before it has read everything, that is not an
 * error. */
static int print_paged(struct job *job, struct pager *pager, int (*print)(struct job *job))
{
  assert(!paged);
  job->report.stream = pager->stream;
  paged = pager;
  int status = print(job);
  paged = NULL;
  return !pager_finish(pager) || status ? EXIT_INPUT : 0;
}

int output_report(struct job *job, int (*print)(struct job *job))
{
  const char *name = job->options.output;
  const char *why = name ? obstacle(name) : NULL;
  struct pager pager;
  owner = getpid();
  if (why)
    return cannot_write(name, why);
  if (name && is_plain_output(name))
    return print_file(job, print);
  if (!name && !job->options.no_pager && job->options.format == OPTIONS_TEXT && pager_start(&pager))
    return print_paged(job, &pager, print);
  FILE *stream = stdout;
  if (name)
    stream = fopen(name, "we");
  if (!stream)
    return cannot_write(name, strerror(errno));
  job->report.stream = stream;
  int status = printed(print(job), stream, name ? name : "standard output");
  if (name && fclose(stream) && !status)
    status = EXIT_INPUT;
  return status;
}

/* Writes the report to a temporary file, which is renamed when it is complete. */
static int fill_file(struct job *job, const char *name, output_file_writer *write)
{
  char *temporary, message[512] = "";
  const char *why = obstacle(name);
  if (!why && !is_plain_output(name))
    why = "it is not a regular file; name another one with -o";
  if (why)
    return cannot_write(name, why);
  int fd = create_temporary(name, &temporary);
  if (fd < 0)
    return EXIT_INPUT;
  close(fd);
  int status = write(job, temporary, message, sizeof message) ? EXIT_INPUT : 0;
  if (*message)
    status = cannot_write(name, message);
  return end_temporary(temporary, name, status);
}

int output_file(struct job *job, output_file_writer *write)
{
  assert(job->options.output);
  owner = getpid();
  char *linked = realpath(job->options.output, NULL); /* NULL: there is no such file yet */
  int status = fill_file(job, linked ? linked : job->options.output, write);
  free(linked);
  return status;
}

/* ---- directories ---- */

int output_is_new(const char *name)
{
  struct stat stat;
  if (lstat(name, &stat))
    return 0;
  return cannot_write(name, "it exists; name a directory that does not with -o");
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
  if (status || output_is_new(name))
    return EXIT_INPUT;
  if (rename(temporary, name))
    return cannot_write(name, strerror(errno));
  return 0;
}

int output_directory(struct job *job, output_directory_writer *write)
{
  assert(job->options.output);
  owner = getpid();
  char *name = xstrdup(job->options.output);
  for (size_t length = strlen(name); length > 1 && name[length - 1] == '/';)
    name[--length] = '\0';
  char *temporary = xasprintf("%s.XXXXXX", name);
  int status;
  if (!mkdtemp(temporary)) {
    status = cannot_write(name, strerror(errno));
  } else {
    unfinished_directory = temporary;
    status = fill_directory(job, name, temporary, write);
    unfinished_directory = NULL;
    if (status)
      remove_directory(temporary);
  }
  free(temporary);
  free(name);
  return status;
}
