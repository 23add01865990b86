// SPDX-License-Identifier: Apache-2.0
/*
 * otlp - bytes of OTLP requests, by what they are for
 *
 * usage: otlp [-B] [-H] [-p service|host] [-m BATCHES] [-r TIMES] [-w FILE] BATCH...
 *
 * Encodes batches (files of the spool, or bare ones) as exporterd does, with
 * the attributes of a host that it finds, and prints what takes the bytes: of
 * the request as it is, and of its gzip, where a part's share is what the gzip
 * loses when that part's bytes are taken out.  One event is one sample.
 *
 * -B leaves names out, as `names = no` does.  -H leaves the host's attributes
 * out.  -p: a resource a service with its name and container's
 * ID, or one for the host; with the host's name and ID alone.  -m makes one request of so many batches, as a longer interval would.
 * -r encodes and compresses each TIMES times more and prints the CPU time of it.
 * -w writes the first request.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wire.h"
#include "exporterd/body.h"
#include "exporterd/spool_file.h"
#include "profile/formats/otlp.h"

enum part {
	RESOURCE, SCOPE, PROFILE, SAMPLE, SAMPLE_ATTRS, TIMES, STACKS,
	LOCATIONS, LINES, FUNCTIONS, NAMES, STRINGS, MAPPINGS, ATTRIBUTES, LINKS,
	PARTS
};

static const char *const part_names[PARTS] = {
	"resources", "scopes and schemas", "profiles", "samples",
	"... their attributes", "... their times", "stacks", "locations",
	"... their lines", "functions", "names and source files",
	"other strings", "mappings", "attributes", "links",
};

enum message {
	NONE, REQUEST, RESOURCE_PROFILES, SCOPE_PROFILES, PROFILE_MSG,
	SAMPLE_MSG, DICTIONARY, LOCATION_MSG, FUNCTION_MSG
};

/* Where a field's bytes belong, or as which message it is to be taken apart:
 * opentelemetry/proto/profiles/v1development/profiles.proto, 1.11.0. */
static const struct rule {
	enum message in;
	unsigned int field;
	enum part part;
	enum message is;
} rules[] = {
	{ REQUEST, 1, SCOPE, RESOURCE_PROFILES },
	{ REQUEST, 2, STRINGS, DICTIONARY },
	{ RESOURCE_PROFILES, 1, RESOURCE, NONE },
	{ RESOURCE_PROFILES, 2, SCOPE, SCOPE_PROFILES },
	{ RESOURCE_PROFILES, 3, SCOPE, NONE },
	{ SCOPE_PROFILES, 1, SCOPE, NONE },
	{ SCOPE_PROFILES, 2, PROFILE, PROFILE_MSG },
	{ SCOPE_PROFILES, 3, SCOPE, NONE },
	{ PROFILE_MSG, 2, SAMPLE, SAMPLE_MSG },
	{ SAMPLE_MSG, 2, SAMPLE_ATTRS, NONE },
	{ SAMPLE_MSG, 5, TIMES, NONE },
	{ DICTIONARY, 1, MAPPINGS, NONE },
	{ DICTIONARY, 2, LOCATIONS, LOCATION_MSG },
	{ DICTIONARY, 3, FUNCTIONS, FUNCTION_MSG },
	{ DICTIONARY, 4, LINKS, NONE },
	{ DICTIONARY, 5, STRINGS, NONE },
	{ DICTIONARY, 6, ATTRIBUTES, NONE },
	{ DICTIONARY, 7, STACKS, NONE },
	{ LOCATION_MSG, 3, LINES, NONE },
	{ FUNCTION_MSG, 1, FUNCTIONS, NONE },	/* name */
	{ FUNCTION_MSG, 2, FUNCTIONS, NONE },	/* system name */
	{ FUNCTION_MSG, 3, FUNCTIONS, NONE },	/* source file */
};

struct sums {
	uint64_t events, samples, requests, raw, gzip, zstd, encoded, encode_ns,
		gzip_ns;
	uint64_t part[PARTS], zipped[PARTS], elements[PARTS];
};

static struct sums sum;
static int times_more, merge = 1;	/* options */
static const char *write_to;

static void die(const char *what)
{
	fprintf(stderr, "otlp: %s\n", what);
	exit(1);
}

/* The attributes that exporterd finds on a host with Debian 12. */
static struct otlp_how host = { .pairs = (const char *const[]){
	"os.type", "linux", "telemetry.distro.name", "trifold",
	"telemetry.distro.version", TRIFOLD_VERSION, "host.name", "build-7",
	"host.arch", "amd64", "host.id", "3f2a97c4e1b84d06a5d8c0917be6f243",
	"os.name", "Debian GNU/Linux", "os.version", "12", "os.description",
	"Debian GNU/Linux 12 (bookworm), Linux 6.1.0-37-amd64", NULL } };

/* --- whose is each byte? ---------------------------------------------------------- */

static const struct rule *rule_of(enum message in, uint64_t field)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].in == in && rules[i].field == field)
			return &rules[i];
	}
	return NULL;
}

/* One field at in, its wire type known: its number, or what is inside. */
static int field_read(struct wire_in *in, unsigned int type, uint64_t *number,
		      struct wire_in *inside)
{
	switch (type) {
	case 0:
		return wire_get_uleb(in, number);
	case 1:
		return wire_skip(in, 8);
	case 2:
		if (wire_get_uleb(in, number))
			return WIRE_SHORT;
		return wire_get_sub(in, *number, inside);
	default:
		return WIRE_FORMAT;
	}
}

/* Strings that functions name; functions come before them. */
static uint8_t named[1 << 20];
static uint64_t strings;

/* The part of a field's bytes. */
static enum part part_of(const struct rule *r, uint64_t number)
{
	if (r->in == FUNCTION_MSG && number < sizeof(named))
		named[number] = 1;
	if (r->in == DICTIONARY && r->field == 5 &&
	    strings++ < sizeof(named) && named[strings - 1])
		return NAMES;
	return r->part;
}

/* Write into owner[], a byte for each of `base`, which part it is of; fields
 * without a rule are of the part of their message. */
static void own(struct wire_in in, enum message what, enum part mine,
		const uint8_t *base, uint8_t *owner)
{
	while (wire_left(&in)) {
		const uint8_t *start = in.pos;
		struct wire_in inside = { 0 };
		uint64_t tag, number = 0;
		const struct rule *r;
		enum part p;

		if (wire_get_uleb(&in, &tag) ||
		    field_read(&in, tag & 7, &number, &inside))
			die("no valid request");
		r = rule_of(what, tag >> 3);
		p = r ? part_of(r, number) : mine;
		memset(owner + (start - base), (int)p,
		       (size_t)(in.pos - start));
		if (r && r->in != FUNCTION_MSG)
			sum.elements[p]++;
		if (r && r->is)
			own(inside, r->is, r->part, base, owner);
	}
}

static size_t packed(const uint8_t *data, size_t len,
		     const struct otlp_cuts *cuts, enum compression c)
{
	struct body *b = body_make_cut(data, len, cuts->at, OTLP_CUTS, c);
	size_t n = b ? b->len : 0;

	if (!b)
		die("out of memory");
	body_put(b);
	return n;
}

/* The gzip without the bytes of part p. */
static size_t without(unsigned int p, const uint8_t *data, size_t len,
		      const struct otlp_cuts *cuts, const uint8_t *owner)
{
	struct otlp_cuts rest_cuts = *cuts;
	uint8_t *rest = malloc(len);
	size_t n = 0;

	if (!rest)
		die("out of memory");
	for (size_t i = 0; i < len; i++) {
		for (unsigned int k = 0; k < OTLP_CUTS; k++) {
			if (cuts->at[k] == i)
				rest_cuts.at[k] = n;
		}
		if (owner[i] != p)
			rest[n++] = data[i];
	}
	n = packed(rest, n, &rest_cuts, COMPRESSION_GZIP);
	free(rest);
	return n;
}

static void take_apart(const uint8_t *data, size_t len,
		       const struct otlp_cuts *cuts)
{
	uint8_t *owner = calloc(1, len);
	size_t gzip = packed(data, len, cuts, COMPRESSION_GZIP);
	struct wire_in in;

	if (!owner)
		die("out of memory");
	memset(named, 0, sizeof(named));
	strings = 0;
	wire_init(&in, data, len, false);
	own(in, REQUEST, SCOPE, data, owner);
	for (size_t i = 0; i < len; i++)
		sum.part[owner[i]]++;
	for (unsigned int p = 0; p < PARTS; p++)
		sum.zipped[p] += gzip - without(p, data, len, cuts, owner);
	sum.raw += len;
	sum.gzip += gzip;
	sum.zstd += packed(data, len, cuts, COMPRESSION_ZSTD);
	free(owner);
}

/* --- batches ------------------------------------------------------------------------ */

static void write_first(const uint8_t *data, size_t len)
{
	FILE *f = write_to ? fopen(write_to, "wb") : NULL;

	if (write_to && (!f || fwrite(data, 1, len, f) != len || fclose(f)))
		die("cannot write");
	write_to = NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static void encode(const struct batch *b, uint8_t **data, size_t *len,
		   struct otlp_made *made)
{
	if (otlp_encode_range(b, otlp_all(b), &host, data, len, made))
		die("cannot encode");
}

static void one(const struct batch *b)
{
	struct otlp_made made;
	uint64_t t0, t1;
	uint8_t *data;
	size_t len;

	encode(b, &data, &len, &made);
	take_apart(data, len, &made.cuts);
	write_first(data, len);
	free(data);
	sum.requests++;
	sum.events += batch_n(b, BATCH_TIMES);
	for (int i = 0; i < times_more; i++) {
		t0 = cpu_ns();
		encode(b, &data, &len, &made);
		t1 = cpu_ns();
		packed(data, len, &made.cuts, COMPRESSION_GZIP);
		sum.gzip_ns += cpu_ns() - t1;
		sum.encode_ns += t1 - t0;
		free(data);
		sum.encoded += batch_n(b, BATCH_TIMES);
	}
}

/* Batches of a file are merged until there are enough for a request. */
static struct batch_builder *merged;
static int merged_n;

static void merged_end(void)
{
	struct batch b;
	void *data;
	size_t len;

	if (!merged_n)
		return;
	if (batch_builder_finish(merged, UINT64_MAX, 0, &data, &len) ||
	    batch_open(data, len, &b))
		die("cannot merge");
	one(&b);
	free(data);
	batch_builder_free(merged);
	merged_n = 0;
}

static void add(const struct batch *b)
{
	if (!batch_n(b, BATCH_TIMES))
		return;
	if (!merged_n)
		merged = batch_builder_new(b->hdr->frequency);
	if (!merged)
		die("out of memory");
	batch_merge(merged, b);
	if (++merged_n == merge)
		merged_end();
}

static void file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct spool_hdr hdr;
	struct stat st;
	struct batch b;
	void *data;
	size_t len;

	if (!f || fstat(fileno(f), &st))
		die(path);
	if (fread(&hdr, sizeof(hdr), 1, f) != 1 || hdr.magic != SPOOL_MAGIC)
		rewind(f);
	len = (size_t)(st.st_size - ftell(f));
	data = malloc(len + 1);
	if (!data || fread(data, 1, len, f) != len || batch_open(data, len, &b))
		die(path);
	fclose(f);
	if (merge > 1)
		add(&b);
	else if (batch_n(&b, BATCH_TIMES))
		one(&b);
	free(data);
}

static void print(void)
{
	double n = (double)(sum.events ? sum.events : 1);

	printf("%" PRIu64 " samples in %" PRIu64 " requests\n", sum.events,
	       sum.requests);
	printf("%-22s %10s %14s %14s\n", "bytes a sample", "elements",
	       "as it is", "in the gzip");
	for (unsigned int p = 0; p < PARTS; p++)
		printf("%-22s %10" PRIu64 " %14.1f %14.1f\n", part_names[p],
		       sum.elements[p], (double)sum.part[p] / n,
		       (double)(int64_t)sum.zipped[p] / n);
	printf("%-22s %10s %14.1f %14.1f (zstd: %.1f)\n", "all", "",
	       (double)sum.raw / n, (double)sum.gzip / n,
	       (double)sum.zstd / n);
	if (sum.encoded)
		printf("CPU time a sample: %.0f ns to encode, %.0f ns for gzip\n",
		       (double)sum.encode_ns / (double)sum.encoded,
		       (double)sum.gzip_ns / (double)sum.encoded);
}

static void set_per(const char *what)
{
	static const char *const pairs[] = {
		"host.name", "build-7", "host.id", "3f2a97c4e1b84d06a5d8c0917be6f243", NULL };

	host.pairs = pairs;
	host.per = strcmp(what, "host") ? OTLP_PER_SERVICE : OTLP_PER_HOST;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "BHm:p:r:w:")) != -1) {
		if (c == 'H')
			host.pairs = NULL;
		else if (c == 'p')
			set_per(optarg);
		else if (c == 'B')
			host.bare = true;
		else if (c == 'r')
			times_more = atoi(optarg);
		else if (c == 'm')
			merge = atoi(optarg);
		else if (c == 'w')
			write_to = optarg;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		file(argv[i]);
	merged_end();
	print();
	return optind == argc;
}
