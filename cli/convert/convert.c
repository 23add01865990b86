// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/config/confine.h"
#include "cli/convert/from_folded.h"
#include "cli/supervisor/identity.h"
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
	bool quiet;
	bool copies;			/* folded stacks as they are */
	int in, out;
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
		log_info("%s counts more than %u samples: one written stands for %" PRIu64
			 " of them", c->name, FROM_FOLDED_SAMPLES_MAX, each);
	return r;
}

/* --- in the child ----------------------------------------------------------------- */

#define CONVERT_SNIFF	4096	/* bytes that tell what it is */

/* Text has no control characters; an OTLP request has the tags of its messages. */
static const struct format *convert_sniff(const struct buffer *in)
{
	for (size_t i = 0; i < in->len && i < CONVERT_SNIFF; i++) {
		if (in->data[i] < 0x20 && !memchr("\t\n\r", in->data[i], 3))
			return format_at(format_named("otlp"));
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

static int convert_write(const struct convert *c, const struct decoded *d)
{
	struct profile_info info = {
		.lines = c->lines, .inlined = c->opt->inlined,
	};
	struct buffer out = { 0 };
	struct batch b;
	int r = batch_open(d->data, d->len, &b);

	memcpy(info.host, d->host, sizeof(info.host));
	memcpy(info.kernel, d->kernel, sizeof(info.kernel));
	if (!r) {
		names_choose(&b, d->data, c->opt->names);
		info.account.start_ns = b.hdr->start_ns;
		info.account.end_ns = b.hdr->end_ns;
		r = c->to->encode(&b, &info, &out);
	}
	if (!r)
		r = write_all(c->out, out.data, out.len);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	else if (!c->quiet)
		log_info("%u samples, %u distinct stacks, %zu KiB",
			 batch_n(&b, BATCH_TIMES), batch_n(&b, BATCH_STACKS),
			 out.len / 1024);
	free(out.data);
	return r;
}

/* From what was read to what is written.  0, or another value after a line in the log. */
static int convert_bytes(const struct convert *c, struct buffer *in)
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
		r = convert_write(c, &d);
	free(d.data);
	return r;
}

static int convert_child(struct convert *c, uid_t seal, pid_t parent)
{
	const int keep[] = { 0, 1, 2, c->in, c->out };
	const struct format *folded = format_at(format_named("folded"));
	struct buffer in = { 0 };
	int r;

	confine_reader(seal, keep, 5);
	if (getppid() != parent)
		return 1;
	_Static_assert(FOLDED_BYTES_MAX == CONVERT_BODY, "one limit, before it is known what it is");
	r = read_all(c->in, CONVERT_BODY, &in);
	if (!r && !c->from)
		c->from = convert_sniff(&in);
	if (r) {
		log_err("%s: %s", c->name, strerror(-r));
	} else if (c->copies && c->from == folded) {
		r = write_all(c->out, in.data, in.len);
		if (r)
			log_err("cannot write: %s", strerror(-r));
	} else {
		r = convert_bytes(c, &in);
	}
	free(in.data);
	return r != 0;
}

/* --- the command ----------------------------------------------------------------------- */

/* 0, or another value after a line in the log. */
static int convert_fork(struct convert *c)
{
	struct identities ids = { .uid = { 0 } };
	uid_t seal = (uid_t)-1;
	pid_t self = getpid(), pid;
	int status = -1;

	if (geteuid() == 0) {
		if (identity_find(&ids))
			return -EAGAIN;
		seal = ids.uid[ID_RECORDER];
	}
	pid = fork();
	if (pid == 0)
		_exit(convert_child(c, seal, self));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		log_err("cannot start the reader: %m");
		return -EAGAIN;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		log_err("the reader was killed by signal %d", WTERMSIG(status));
	return status;
}

/* name: room for c->name.  0 or -errno, said. */
static int convert_open(struct convert *c, const char *path, char name[256])
{
	if (strcmp(path, "-")) {
		c->name = log_quote(path, strlen(path), name, 256);
		c->in = open(path, O_RDONLY | O_CLOEXEC);
	} else {
		c->name = strcpy(name, "standard input");
		c->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	if (c->in >= 0)
		return 0;
	log_err("%s: %m", name);
	return -errno;
}

int convert_to_folded(const char *path, const struct options *o, bool lines,
		      int out)
{
	struct convert c = {
		.from = format_at(format_of(path)), .copies = true,
		.to = format_at(format_named("folded")),
		.frequency = CONVERT_HZ, .opt = o, .lines = lines,
		.quiet = true, .out = out,
	};
	char name[256];
	int r = convert_open(&c, path, name);

	if (r)
		return r;
	r = convert_fork(&c);
	close(c.in);
	return r;
}

static int convert_files(struct convert *c, const struct options *o)
{
	struct outfile f;
	char name[256];
	int r = convert_open(c, o->files[0], name);

	if (r)
		return r;
	r = outfile_open(&f, o->files[1], c->to->looks & FORMAT_FOR_PEOPLE);
	if (!r) {
		c->out = f.fd;
		r = convert_fork(c);
		if (r)
			outfile_abandon(&f);
		else
			r = outfile_commit(&f);
	}
	close(c->in);
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
