/* How the clocks of hosts relate, from what is certain: a message arrives after it was sent.
 *
 * Context: BATCH.  Pure.  Each message between two hosts bounds their relation from one side; messages in both
 * directions leave a corridor.  A clock is taken to be linear in another one: of the lines that violate no bound, or
 * else the least, a host gets the one with the rate closest to 1 that keeps half of the largest distance to all bounds,
 * in the middle of the corridor for that rate (J. M. Jezequel, "Building a global time on parallel machines", 1989; R.
 * Hofmann, U. Hilgers, "Theory and tool for estimating global time in parallel and distributed systems", 1998).  Hosts
 * that exchange no messages are related through others; then each is fitted again to all others, until no bound is
 * violated.  Of each direction between two hosts, only the bounds on the convex hull are kept, which imply all others.
 */
#ifndef HPCPROF_LITE_MESSAGES_HOST_CLOCKS_H
#define HPCPROF_LITE_MESSAGES_HOST_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Rates differ by less than this. */
#define HOST_CLOCKS_RATE_MAX 0.05

struct host_clocks;

/* Its time t is offset_ns + rate * t on the clock of host 0. */
struct host_clock {
  bool related; /* else the rest is not known */
  double offset_ns, rate;
  double open_ns; /* the offset could be less or more by this much, at some rate; below 0: bounds are violated by it */
};

/* Prepares for so many hosts. */
struct host_clocks *host_clocks_new(uint32_t hosts);
void host_clocks_free(struct host_clocks *clocks);

/* Something was sent by one host and had arrived at another one.  Each time is on the host's own clock, in ns since any
 * moment that is always the same. */
void host_clocks_bound(struct host_clocks *clocks, uint32_t from, double sent_ns, uint32_t to, double arrived_ns);

/* Sets clocks[host]; returns how many hosts are related to host 0, which itself is. */
uint32_t host_clocks_fit(struct host_clocks *clocks, struct host_clock *fitted);

#endif
