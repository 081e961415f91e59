/* What another rank needs to read the traces of a run as the first rank does, as a part of a message.
 *
 * Context: BATCH.  Contexts and constructs of the threads must get the same rows and entries everywhere; their names,
 * values and figures are not sent.
 */
#ifndef HPCPROF_LITE_RANKS_TIMELINE_REQUEST_H
#define HPCPROF_LITE_RANKS_TIMELINE_REQUEST_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/ranks/profile_message.h"

/* What the first rank has, or what another one has received: then only parents and depths of the tree's rows are known,
 * and only parents, kinds and entry_of of constructs. */
struct timeline_request {
  struct profile *profile;
  struct tree *tree; /* top-down */
  uint32_t *row_of;  /* [context] row of the tree, or MODEL_NONE */
  struct construct_tree *constructs;
};

void timeline_request_put(struct profile_message *message, const struct timeline_request *request);

/* Fills in what the request points to, of zeros at first; row_of is allocated.  What was filled in belongs to the
 * caller also after a failure, which is kept in message->status. */
void timeline_request_get(struct profile_message *message, struct timeline_request *request);

#endif
