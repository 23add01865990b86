/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_watch - the recorder's writer beside a running trifold
 *
 * It reads batches as a subscriber (ipc/hub_client.h), over connections that the
 * supervisor made, keeps samples of the range and of wanted processes, and
 * reports its state.
 */
#ifndef CLI_RECORD_RECORD_WATCH_H
#define CLI_RECORD_RECORD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/hub_client.h"
#include "profile/collect.h"
#include "profile/cut.h"
#include "profile/profile.h"

/* From the writer to the supervisor, over the control socket, when any of it has
 * changed; plain data. */
struct record_state {
	uint32_t opened;	/* connections that it got */
	uint8_t connected;	/* the last one is still open */
	uint8_t subscribed;	/* symbolizerd answered on it */
	uint8_t covered;	/* nothing more of the range will come */
	uint8_t pad;
	uint64_t samples;	/* in the recording so far */
	uint64_t missed;	/* in missed batches, of all processes */
	uint64_t lost;		/* by other processes of trifold, before a
				 * batch; also of all processes */
	uint64_t no_room;	/* refused: the profile is full */
};

struct record_watch {
	struct hub_client hub;
	struct collect *collect;
	struct cut cut;
	uint32_t frequency;	/* samples of others are not mixed in */
	bool other_frequency;	/* it was reported */
	int control;
	bool on;
	bool settled;		/* no sample of the range waits for a name */
	bool last_came;		/* a batch after that */
	uint64_t last_statuses;	/* statuses by then */
	uint64_t seen_ns;	/* all up to then is known; 0: nothing */
	bool timed;		/* the three below are known */
	uint64_t cpus;		/* that were sampled, by the last status */
	uint64_t missed_first_ns, missed_ns;	/* by the first and the last status */
	struct record_state state, said;
	bool spoke;
};

void record_watch_init(struct record_watch *w, struct collect *c,
		       uint32_t frequency, int control);

/* Take only samples of this range from now on.  An end before the last sample
 * taken becomes that sample's time. */
void record_watch_range(struct record_watch *w, const struct cut *c);

/* A connection (taken over) whose first message must be of hub_uid. */
void record_watch_open(struct record_watch *w, int fd, uid_t hub_uid);

/* Read all messages that have arrived. */
void record_watch_read(struct record_watch *w);

/* Send the state, if it has changed. */
void record_watch_say(struct record_watch *w);

/* The account of what was recorded; start_ns and end_ns too: if the running trifold ended
 * first, the time up to which it told of samples. */
void record_watch_account(const struct record_watch *w,
			  struct profile_account *ret);

/* --- for tests ------------------------------------------------------------------ */

#define SETTLE_NS	1000000000ULL	/* a sample is with symbolizerd by then */

/* So long after the end of the range a sample may still wait for its name. */
uint64_t record_watch_wait_ns(uint32_t interval_ms);

/*
 * A batch that ends at this time, and a status, have arrived.  The range is
 * complete when samples wait neither for a name nor for a batch.  It is, too,
 * when none waited for a name, or none could wait any longer, and then another
 * batch and another status arrived: batches of one interval arrive together.
 */
void record_watch_batch_end(struct record_watch *w, uint64_t end_ns);
void record_watch_status(struct record_watch *w, const struct status *st,
			 uint64_t now_ns);

#endif /* CLI_RECORD_RECORD_WATCH_H */
