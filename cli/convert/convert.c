// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config/sudo_caller.h"
#include "cli/convert/from_folded.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/read_all.h"
#include "profile/formats/formats.h"
#include "profile/names.h"
#include "profile/outfile.h"
#include "viewer/server/decode.h"


/* Of an .otlp: what a full recording needs.  One batch has no room for more
 * samples; where each has a stack of its own, it has 2 million, of 100 bytes. */
#define CONVERT_BODY	(256u << 20)
#define CONVERT_EVENTS	(BATCH_BYTES_MAX / 16)	/* bytes each, in a builder */
#define CONVERT_MESSAGES	(1u << 30)
#define CONVERT_HZ	99		/* of folded stacks, as record writes them */

struct convert {
	const char *name;		/* FILE, quoted */
	const struct format *from, *to;	/* from: NULL: its bytes will tell */
	uint32_t frequency;
	const struct options *opt;	/* .names, .inlined */
	bool lines;
	struct foreign in;
	int out;
	uint32_t samples, stacks;	/* of what was encoded */
};

/* --- reading -------------------------------------------------------------- */

/* The same batch with its frequency. */
static int convert_set_frequency(struct decoded *d, uint32_t frequency)
{
	struct batch_builder *b = batch_builder_new(frequency);
	struct batch from;
	void *data = NULL;
	size_t len;
	int r = -ENOMEM;

	if (b)
		r = batch_open(d->data, d->len, &from);
	if (!r) {
		batch_merge(b, &from);
		r = batch_builder_finish(b, from.hdr->start_ns,
					 from.hdr->end_ns, &data, &len);
	}
	batch_builder_free(b);
	if (r)
		return r;
	free(d->data);
	d->data = data;
	d->len = len;
	return 0;
}

static int convert_from_otlp(const struct convert *c, const struct buffer *in,
			     struct decoded *d)
{
	struct viewer_names *names = calloc(1, sizeof(*names));
	const struct decode_in request = {
		.data = in->data, .len = in->len, .newest_ns = UINT64_MAX / 2,
		.names = names,
		.limits = { CONVERT_BODY, CONVERT_MESSAGES, CONVERT_EVENTS },
	};
	int r = -ENOMEM;

	if (names)
		r = decode_request(&request, d);
	free(names);
	if (r == -EPROTO)
		log_err("%s is not an OTLP request of profiles", c->name);
	else if (r == -E2BIG)
		log_err("%s is too large: up to %u MiB and %u samples are read, "
			"into %u MiB", c->name,
			CONVERT_BODY >> 20, CONVERT_EVENTS,
			BATCH_BYTES_MAX >> 20);
	else if (!r && !d->data)
		log_err("%s has no samples", c->name);
	if (r)
		return r;
	if (!d->data)
		return -ENODATA;
	if (d->frequency)
		return convert_set_frequency(d, d->frequency);
	return convert_set_frequency(d, c->frequency);
}

static int convert_from_folded(const struct convert *c, const struct buffer *in,
			       struct decoded *d)
{
	struct folded_mistake m;
	uint64_t each;
	int r = from_folded((const char *)in->data, in->len, c->frequency, &m,
			    &d->data, &d->len, &each);

	if (r > 0)
		log_err("%s:%u: %s", c->name, m.line, m.what);
	else if (r == -E2BIG)
		log_err("%s is too large: its samples need more than %u MiB",
			c->name, BATCH_BYTES_MAX >> 20);
	else if (!r && each > 1)
		log_info("%s counts more samples than %u MiB have room for: one written stands "
			 "for %" PRIu64 " of them", c->name, BATCH_BYTES_MAX >> 20, each);
	return r;
}

/* --- in the child ----------------------------------------------------------------- */

#define CONVERT_SNIFF	4096	/* bytes that tell what it is */

static bool convert_is_control(uint8_t c)
{
	return c < 0x20 && !memchr("\t\n\r", c, 3);
}

/* An OTLP request begins with the tag of field 1 or 2 and has those of its messages; text
 * may begin with an empty line, and has no control characters.  All else is read as text,
 * whose reader says what is wrong with it. */
static const struct format *convert_sniff(const struct buffer *in)
{
	const struct format *otlp = format_at(format_named("otlp"));

	if (in->len && in->data[0] == 0x12)
		return otlp;
	for (size_t i = 0; in->len && in->data[0] == 0x0a && i < in->len && i < CONVERT_SNIFF; i++) {
		if (convert_is_control(in->data[i]))
			return otlp;
	}
	return format_at(format_named("folded"));
}

/* Both are known now. */
static int convert_check(const struct convert *c)
{
	if (c->from != format_at(format_named("folded")) || !(c->to->looks & FORMAT_NEEDS_TIMES))
		return 0;
	log_err("folded stacks have no times, which %s shows: convert an .otlp file", c->to->name);
	return -EINVAL;
}

static int convert_encode(struct convert *c, const struct decoded *d, struct buffer *out)
{
	struct profile_info info = {
		.lines = c->lines, .inlined = c->opt->inlined,
		.nameless = c->opt->no_placeholders,
	};
	struct batch b;
	int r = batch_open(d->data, d->len, &b);

	memcpy(info.host, d->host, sizeof(info.host));
	memcpy(info.kernel, d->kernel, sizeof(info.kernel));
	if (!r) {
		names_choose(&b, d->data, c->opt->names);
		info.account.start_ns = b.hdr->start_ns;
		info.account.end_ns = b.hdr->end_ns;
		r = c->to->encode(&b, &info, out);
	}
	if (r) {
		log_err("cannot write: %s", strerror(-r));
		return r;
	}
	c->samples = batch_n(&b, BATCH_TIMES);
	c->stacks = batch_n(&b, BATCH_STACKS);
	return 0;
}

/* From what was read, which is freed, to what is written.  0, or another value after a line
 * in the log. */
static int convert_bytes(struct convert *c, struct buffer *in, struct buffer *out)
{
	const struct format *folded = format_at(format_named("folded"));
	struct decoded d = { 0 };
	int r = convert_check(c);

	if (r)
		return r;
	if (c->from == folded)
		r = convert_from_folded(c, in, &d);
	else
		r = convert_from_otlp(c, in, &d);
	free(in->data);
	in->data = NULL;
	if (r == -ENOMEM)
		log_err("%s: %s", c->name, strerror(ENOMEM));
	if (!r)
		r = convert_encode(c, &d, out);
	free(d.data);
	return r;
}

static int convert_read(struct convert *c, struct buffer *in)
{
	int r;

	_Static_assert(FOLDED_BYTES_MAX == CONVERT_BODY, "one limit, before it is known what it is");
	r = read_all(c->in.fd, CONVERT_BODY, in);
	if (r)
		log_err("%s: %s", c->name, strerror(-r));
	else if (!c->from)
		c->from = convert_sniff(in);
	return r;
}

static int convert_work(void *arg)
{
	struct convert *c = arg;
	struct buffer in = { 0 }, out = { 0 };
	int r = convert_read(c, &in);

	if (!r)
		r = convert_bytes(c, &in, &out);
	if (!r) {
		r = write_all(c->out, out.data, out.len);
		if (r)
			log_err("cannot write: %s", strerror(-r));
		else
			log_info("%u samples, %u distinct stacks, %zu KiB", c->samples,
				 c->stacks, out.len / 1024);
	}
	free(in.data);
	free(out.data);
	if (r)
		return 1;
	return 0;
}

int convert_to_folded(const struct foreign *f, const struct options *o, bool lines,
		      struct buffer *ret)
{
	struct convert c = {
		.name = f->name, .in = *f, .from = f->format,
		.to = format_at(format_named("folded")),
		.frequency = CONVERT_HZ, .opt = o, .lines = lines,
	};
	struct buffer in = { 0 };
	int r = convert_read(&c, &in);

	if (!r && c.from != format_at(format_named("otlp"))) {
		*ret = in;
		return 0;
	}
	if (!r)
		r = convert_bytes(&c, &in, ret);
	free(in.data);
	return r;
}

/* --- the command ----------------------------------------------------------------------- */

/* Whatever is opened is opened as the user who called sudo. */
static int convert_files(struct convert *c, const struct options *o)
{
	struct outfile f;
	int r = sudo_caller_become();

	if (!r)
		r = foreign_open(&c->in, o->files[0]);
	if (r)
		return r;
	c->name = c->in.name;
	r = outfile_open(&f, o->files[1], c->to->looks & FORMAT_FOR_PEOPLE);
	if (!r) {
		const int keep[] = { c->in.fd, f.fd };

		c->out = f.fd;
		r = foreign_run(convert_work, c, keep, 2);
		if (r)
			outfile_abandon(&f);
		else
			r = outfile_commit(&f);
	}
	foreign_close(&c->in);
	return r;
}

int convert_run(const struct options *o)
{
	const struct format *folded = format_at(format_named("folded"));
	struct convert c = {
		.frequency = CONVERT_HZ, .opt = o, .lines = o->lines,
	};
	char endings[160], q[256];

	if (!o->files[1]) {
		log_err("convert needs two files, FILE and OUT; see `trifold "
			"convert --help`");
		return EXIT_USAGE;
	}
	if (options_given(o, "frequency"))
		c.frequency = o->frequency;
	c.from = format_at(format_of(o->files[0]));
	if (o->format)
		c.to = format_at(o->format);
	else
		c.to = format_at(format_of(o->files[1]));
	if (c.from && c.from != folded && c.from != format_at(format_named("otlp"))) {
		log_err("convert reads .folded and .otlp only");
		return EXIT_USAGE;
	}
	if (!c.to && outfile_is_standard(o->files[1])) {
		log_err("standard output needs --format: one of %s",
			format_names(endings, sizeof(endings)));
		return EXIT_USAGE;
	}
	if (!c.to) {
		log_err("no format has the ending of \"%s\": use %s, or "
			"--format",
			log_quote(o->files[1], strlen(o->files[1]), q, sizeof(q)),
			format_endings(endings, sizeof(endings)));
		return EXIT_USAGE;
	}
	if (convert_check(&c))
		return EXIT_USAGE;
	return convert_files(&c, o) != 0;
}
