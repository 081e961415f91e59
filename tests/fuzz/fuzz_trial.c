/* The record of --try.  What is read of it, sound or damaged, can be evaluated, written and read again. */
#include "tests/fuzz/fuzz.h"

#include "common/trial.h"
#include "hpcprof-lite/analysis/trial_figures.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct trial first, again;
  struct trial_figures figures;
  char *text = malloc(size + 1), *written = NULL;
  size_t written_size = 0;
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  trial_read(text, &first);
  trial_figures_compute(&first, &figures);
  FILE *stream = open_memstream(&written, &written_size);
  if (stream) {
    trial_write(&first, stream);
    fclose(stream);
    if (trial_read(written, &again) || again.runs_count != first.runs_count ||
        again.settings_count != first.settings_count || again.stop != first.stop)
      abort();
    trial_release(&again);
  }
  trial_release(&first);
  free(written);
  free(text);
  return 0;
}
