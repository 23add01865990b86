// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/debug_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizerd/tables/vdso.h"

#define DEBUG_LOOKED_AT	64u	/* executables a tick, and an eighth of all */

/* --- build IDs --------------------------------------------------------------- */

static uint8_t debug_files_digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* That of an executable.  False: it has none to ask by. */
static bool debug_files_id(const struct executable *e, struct build_id *ret)
{
	size_t n = strlen(e->build_id) / 2;

	*ret = (struct build_id){ .len = (uint32_t)n };
	for (size_t i = 0; i < n; i++)
		ret->bytes[i] = (uint8_t)(debug_files_digit(e->build_id[2 * i]) << 4 |
					  debug_files_digit(e->build_id[2 * i + 1]));
	return n >= 2;
}

static bool debug_files_same(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* --- descriptors ------------------------------------------------------------- */

static void debug_files_drop(struct debug_files *d, uint32_t i)
{
	close(d->v[i].fd);
	d->v[i] = d->v[--d->n];
}

void debug_files_init(struct debug_files *d)
{
	*d = (struct debug_files){ .again_ns = DEBUG_AGAIN_NS };
}

void debug_files_fini(struct debug_files *d)
{
	while (d->n)
		debug_files_drop(d, 0);
}

static bool debug_files_is_old(const struct debug_at_hand *h, uint64_t now_ns)
{
	if (h->source == DEBUG_LOCAL)
		return now_ns - h->since_ns >= DEBUG_LOCAL_NS;
	return now_ns - h->used_ns >= DEBUG_SERVER_NS;
}

static void debug_files_drop_old(struct debug_files *d, uint64_t now_ns)
{
	for (uint32_t i = d->n; i-- > 0;) {
		const struct debug_at_hand *h = &d->v[i];

		if (debug_files_is_old(h, now_ns))
			debug_files_drop(d, i);
	}
}

static void debug_files_make_room(struct debug_files *d)
{
	uint32_t old = 0;

	if (d->n < DEBUG_FILES_MAX)
		return;
	for (uint32_t i = 1; i < d->n; i++) {
		if (d->v[i].used_ns < d->v[old].used_ns)
			old = i;
	}
	debug_files_drop(d, old);
}

/* Let go of servers' files, but for those of this size that are to come. */
static void debug_files_make_bytes(struct debug_files *d, uint64_t bytes)
{
	for (;;) {
		uint64_t sum = bytes;
		uint32_t old = DEBUG_FILES_MAX;

		for (uint32_t i = 0; i < d->n; i++) {
			if (!d->v[i].bytes)
				continue;
			sum += d->v[i].bytes;
			if (old == DEBUG_FILES_MAX || d->v[i].used_ns < d->v[old].used_ns)
				old = i;
		}
		if (old == DEBUG_FILES_MAX || sum <= DEBUG_SERVER_BYTES)
			return;
		debug_files_drop(d, old);
	}
}

static bool debug_files_may_have(const struct debug_at_hand *h, uint32_t owner)
{
	return h->source == DEBUG_SERVER || h->uid == 0 || owner_of_uid(h->uid) == owner;
}

const struct debug_at_hand *debug_files_get(struct debug_files *d, const struct build_id *id,
					    uint32_t owner, uint64_t now_ns)
{
	for (uint32_t i = 0; i < d->n; i++) {
		if (!debug_files_same(&d->v[i].id, id) ||
		    !debug_files_may_have(&d->v[i], owner))
			continue;
		d->v[i].used_ns = now_ns;
		return &d->v[i];
	}
	return NULL;
}

/* --- what comes --------------------------------------------------------------- */

/* Of the same content as the one for which it was read last? */
static uint64_t debug_files_print(const struct stat *st)
{
	return ((uint64_t)st->st_ino << 32) ^ (uint64_t)st->st_dev ^ (uint64_t)st->st_size ^
	       (uint64_t)st->st_ctim.tv_sec << 20 ^ (uint64_t)st->st_ctim.tv_nsec;
}

/* Have those read anew to which it may belong, and that no worker has just now: whether
 * that one met it is not known.  *new: there is one of either kind. */
static uint32_t debug_files_renew(const struct debug_at_hand *h, struct executables *x,
				  uint64_t print, bool *new)
{
	struct build_id own;
	uint32_t n = 0;

	*new = false;
	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (!e || !executable_lacks_debug(e) || !debug_files_id(e, &own) ||
		    !debug_files_same(&own, &h->id) || !debug_files_may_have(h, e->owner))
			continue;
		if (e->jobs && e->debug_print != print)
			*new = true;
		if (!e->jobs && executable_renew(e, print))
			n++;
	}
	if (n)
		*new = true;
	return n;
}

/* Likewise, of those whose alternate file it is. */
static uint32_t debug_files_renew_lines(struct debug_files *d, const struct debug_at_hand *h,
					const struct executables *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < DEBUG_LACKING_MAX; i++) {
		struct debug_lacking *a = &d->lacking[i];
		struct executable *e = NULL;

		if (a->lines_id)
			e = executables_number(x, a->number);
		if (!e || e->lines_id != a->lines_id || !debug_files_same(&a->id, &h->id) ||
		    !debug_files_may_have(h, e->owner))
			continue;
		a->lines_id = 0;
		executable_forget_lines(e);
		n++;
	}
	return n;
}

uint32_t debug_files_found(struct debug_files *d, struct executables *x,
			   const struct build_id *id, int fd, enum debug_source source,
			   uint64_t now_ns)
{
	struct debug_at_hand h = { *id, fd, source, 0, now_ns, now_ns, 0 };
	struct stat st;
	uint32_t n;
	bool new;

	if (fstat(fd, &st)) {
		close(fd);
		return 0;
	}
	h.uid = st.st_uid;
	n = debug_files_renew(&h, x, debug_files_print(&st), &new) +
	    debug_files_renew_lines(d, &h, x);
	if (source == DEBUG_LOCAL && !new) {	/* it was seen, and is of no use */
		close(fd);
		return 0;
	}
	for (uint32_t i = d->n; i-- > 0;) {
		if (d->v[i].source == source && d->v[i].uid == h.uid &&
		    debug_files_same(&d->v[i].id, id))
			debug_files_drop(d, i);
	}
	debug_files_make_room(d);
	if (source == DEBUG_SERVER) {
		if (fcntl(fd, F_GET_SEALS) >= 0)
			h.bytes = (uint64_t)st.st_size;
		debug_files_make_bytes(d, h.bytes);
	}
	d->v[d->n++] = h;
	return n;
}

void debug_files_answer(struct debug_files *d, struct executables *x, uint32_t number, int fd,
			uint64_t now_ns)
{
	for (uint32_t i = 0; i < DEBUG_ASKS_MAX; i++) {
		struct debug_ask *a = &d->asks[i];

		if (!a->since_ns || a->number != number)
			continue;
		a->since_ns = 0;
		if (fd >= 0)
			debug_files_found(d, x, &a->id, fd, DEBUG_LOCAL, now_ns);
		else if (d->ops->missing)
			d->ops->missing(d->ctx, &a->id, a->owner, a->useless);
		return;
	}
	if (fd >= 0)		/* too late, or not asked for */
		close(fd);
}

/* A free one; else the oldest of the owner who has most. */
static struct debug_lacking *debug_files_lacking(struct debug_files *d)
{
	struct debug_lacking *best = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; i < DEBUG_LACKING_MAX; i++) {
		struct debug_lacking *a = &d->lacking[i];
		uint32_t n = 0;

		if (!a->lines_id)
			return a;
		for (uint32_t j = 0; j < DEBUG_LACKING_MAX; j++)
			if (d->lacking[j].owner == a->owner)
				n++;
		if (n < most || (n == most && best && a->turn > best->turn))
			continue;
		best = a;
		most = n;
	}
	return best;
}

void debug_files_wants(struct debug_files *d, const struct executable *e,
		       const struct msg_wanted *q)
{
	struct build_id id = { .len = q->build_id_len };

	if (q->alternate != DEBUG_ALTERNATE || !e->lines_id)
		return;		/* without lines they are asked for anew in any case */
	memcpy(id.bytes, q->build_id, sizeof(id.bytes));
	for (uint32_t i = 0; i < DEBUG_LACKING_MAX; i++) {
		if (d->lacking[i].lines_id == e->lines_id &&
		    debug_files_same(&d->lacking[i].id, &id))
			return;
	}
	*debug_files_lacking(d) = (struct debug_lacking){
		e->lines_id, e->number, e->owner, 0, d->turn++, id,
	};
}

void debug_files_no_alternate(struct debug_files *d, uint32_t number, uint64_t now_ns)
{
	for (uint32_t i = 0; i < DEBUG_LACKING_MAX; i++) {
		struct debug_lacking *a = &d->lacking[i];

		if (a->lines_id && a->number == number && d->ops && d->ops->missing &&
		    (!a->missing_ns || now_ns - a->missing_ns >= d->again_ns) &&
		    d->ops->missing(d->ctx, &a->id, a->owner, false))
			a->missing_ns = now_ns;
	}
}

/* --- asking again -------------------------------------------------------------- */

/* For a question of this owner; NULL: not now. */
static struct debug_ask *debug_files_free_ask(struct debug_files *d, uint32_t owner,
					      uint64_t now_ns)
{
	struct debug_ask *unused = NULL;
	uint32_t own = 0, used = 0;

	for (uint32_t i = 0; i < DEBUG_ASKS_MAX; i++) {
		struct debug_ask *a = &d->asks[i];

		if (!a->since_ns || now_ns - a->since_ns >= DEBUG_ANSWER_NS) {
			unused = a;
			continue;
		}
		used++;
		if (a->owner == owner)
			own++;
	}
	if (!debug_files_may_ask(own, used, DEBUG_ASKS_MAX))
		return NULL;
	return unused;
}

/* loaderd's opener, and if that has none a server. */
static void debug_files_ask_opener(struct debug_files *d, struct executable *e,
				   const struct build_id *id, bool useless, uint64_t now_ns)
{
	struct debug_ask *a = debug_files_free_ask(d, e->owner, now_ns);

	if (!a)
		return;
	e->debug_asked_ns = now_ns;
	*a = (struct debug_ask){ now_ns, e->number, e->owner, useless, *id };
	if (d->ops->ask(d->ctx, e->number, id) == 0)
		return;
	a->since_ns = 0;
	if (d->ops->missing)
		d->ops->missing(d->ctx, id, e->owner, useless);
}

/* Was what is at hand of use to an executable with this build ID?  Then an
 * executable that another user made with this build ID cannot remove it. */
static bool debug_files_served(const struct executables *x, const struct build_id *id)
{
	struct build_id own;

	for (uint32_t i = 0; i < x->top; i++) {
		const struct executable *e = x->v[i];

		if (e && e->debug == JOB_DEBUG_FILE && debug_files_id(e, &own) &&
		    debug_files_same(&own, id))
			return true;
	}
	return false;
}

/* If it cannot be asked for now it is looked at again soon. */
static void debug_files_ask(struct debug_files *d, const struct executables *x,
			    struct executable *e, uint64_t now_ns)
{
	const struct debug_at_hand *h;
	struct build_id id;
	struct stat st;
	bool useless;

	if (!debug_files_id(e, &id) || executables_number(x, e->number) != e)
		return;
	h = debug_files_get(d, &id, e->owner, now_ns);
	if (h && !fstat(h->fd, &st) && executable_renew(e, debug_files_print(&st)))
		return;
	useless = h && h->source == DEBUG_SERVER && !debug_files_served(x, &id);
	if (useless)		/* it was read, and is not what it should be */
		debug_files_drop(d, (uint32_t)(h - d->v));
	if (e->debug_asked_ns)
		debug_files_ask_opener(d, e, &id, useless, now_ns);
	else if (!d->ops->missing || d->ops->missing(d->ctx, &id, e->owner, useless))
		e->debug_asked_ns = now_ns;	/* a worker asked loaderd just now */
}

/* Is its debug file to be asked for?  Not while one that is at hand is still to be read, unless
 * its reading killed a worker: it may be to blame, and its server have another one. */
static bool debug_files_is_due(const struct debug_files *d, const struct executable *e,
			       uint32_t interval, uint64_t now_ns)
{
	if (!executable_lacks_debug(e) || (e->renew && !e->quarantined) || e->jobs ||
	    vdso_is(&e->key) || interval - e->used >= DEBUG_MET_INTERVALS)
		return false;
	return !e->debug_asked_ns || now_ns - e->debug_asked_ns >= d->again_ns;
}

void debug_files_tick(struct debug_files *d, struct executables *x, uint32_t interval,
		      uint64_t now_ns)
{
	uint32_t look = x->top / 8 + DEBUG_LOOKED_AT;

	debug_files_drop_old(d, now_ns);
	for (uint32_t i = 0; d->ops && i < look && i < x->top; i++) {
		struct executable *e;

		if (d->next >= x->top)
			d->next = 0;
		e = x->v[d->next];
		if (e && debug_files_is_due(d, e, interval, now_ns))
			debug_files_ask(d, x, e, now_ns);
		d->next++;
	}
}
