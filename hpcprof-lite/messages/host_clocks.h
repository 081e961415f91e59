/* How the clocks of hosts relate, from what is certain: a message arrives after it was sent.
 *
 * Context: BATCH.  Pure.  Each message between two hosts bounds their relation from one side.  A clock is taken to be
 * linear in another one.  First, offsets and rates of all hosts are chosen at once so that all bounds are kept, if that
 * is possible (line_fit.h).  Then each host in turn gets the line with the rate closest to 1 that keeps half of the
 * largest distance to the bounds that the other clocks leave, in the middle of the corridor for that rate (J. M.
 * Jezequel, "Building a global time on parallel machines", 1989; R. Hofmann, U. Hilgers, "Theory and tool for
 * estimating global time in parallel and distributed systems", 1998).
 *
 * If clocks are linear, the true ones keep all bounds, too.  So the difference of the errors of two clocks is bounded
 * at both ends of the run, by all lines between the bounds of their messages; and along chains of hosts, these sum up
 * to bounds of each error (shortest paths).  Those bound the differences again, until that changes little.
 *
 * Of each direction between two hosts, only the bounds on the convex hull are kept, which imply all others.
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
  /* From the earliest to the latest time that is covered, on any host, the true time is within so much of it, if clocks
   * are linear; below 0: bounds of this host are violated, by so much.  Then nothing is known of the other hosts. */
  double open_ns;
};

/* Prepares for so many hosts. */
struct host_clocks *host_clocks_new(uint32_t hosts);
void host_clocks_free(struct host_clocks *clocks);

/* Something was sent by one host and had arrived at another one.  Each time is on the host's own clock, in ns since any
 * moment that is always the same. */
void host_clocks_bound(struct host_clocks *clocks, uint32_t from, double sent_ns, uint32_t to, double arrived_ns);

/* The corrected time will be used at this time of the host, too. */
void host_clocks_cover(struct host_clocks *clocks, uint32_t host, double ns);

/* Sets fitted[host]; returns how many hosts are related to host 0, which itself is: those that have bounds from
 * both sides, directly or through others. */
uint32_t host_clocks_fit(struct host_clocks *clocks, struct host_clock *fitted);

#endif
