// SPDX-License-Identifier: Apache-2.0
/*
 * otlp - bytes of OTLP requests, by what they are for
 *
 * usage: otlp [-r TIMES] [-w FILE] BATCH...
 *
 * Encodes batches (files of the spool, or bare ones) as exporterd does, with
 * the attributes of a host that it finds, and prints what takes the bytes: of
 * the request as it is, and of its gzip, where a part's share is what the gzip
 * loses when that part's bytes are taken out.  One event is one sample.
 * -r encodes each TIMES times more and prints the time of it; -w writes the
 * first request.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wire.h"
#include "exporterd/body.h"
#include "exporterd/spool_file.h"
#include "profile/formats/otlp.h"

enum part {
	RESOURCE, SCOPE, PROFILE, SAMPLE, SAMPLE_ATTRS, TIMES, STACKS,
	LOCATIONS, LINES, FUNCTIONS, STRINGS, MAPPINGS, ATTRIBUTES, LINKS,
	PARTS
};

static const char *const part_names[PARTS] = {
	"resources", "scopes and schemas", "profiles", "samples",
	"... their attributes", "... their times", "stacks", "locations",
	"... their lines", "functions", "strings", "mappings", "attributes",
	"links",
};

enum message {
	NONE, REQUEST, RESOURCE_PROFILES, SCOPE_PROFILES, PROFILE_MSG,
	SAMPLE_MSG, DICTIONARY, LOCATION_MSG
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
	{ DICTIONARY, 3, FUNCTIONS, NONE },
	{ DICTIONARY, 4, LINKS, NONE },
	{ DICTIONARY, 5, STRINGS, NONE },
	{ DICTIONARY, 6, ATTRIBUTES, NONE },
	{ DICTIONARY, 7, STACKS, NONE },
	{ LOCATION_MSG, 3, LINES, NONE },
};

struct sums {
	uint64_t events, samples, requests, raw, gzip, zstd, ns, encoded;
	uint64_t part[PARTS], zipped[PARTS], elements[PARTS];
};

static struct sums sum;
static int times_more;
static const char *write_to;

static void die(const char *what)
{
	fprintf(stderr, "otlp: %s\n", what);
	exit(1);
}

/* The attributes that exporterd finds on a host with Debian 12. */
static const struct otlp_resource host = { (const char *const[]){
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

/* One field at in, its wire type known: what is inside, for a field of bytes. */
static int field_skip(struct wire_in *in, unsigned int type,
		      struct wire_in *inside)
{
	uint64_t n;

	switch (type) {
	case 0:
		return wire_get_uleb(in, &n);
	case 1:
		return wire_skip(in, 8);
	case 2:
		if (wire_get_uleb(in, &n))
			return WIRE_SHORT;
		return wire_get_sub(in, n, inside);
	default:
		return WIRE_FORMAT;
	}
}

/* Write into owner[], a byte for each of `base`, which part it is of; fields
 * without a rule are of the part of their message. */
static void own(struct wire_in in, enum message what, enum part mine,
		const uint8_t *base, uint8_t *owner)
{
	while (wire_left(&in)) {
		const uint8_t *start = in.pos;
		struct wire_in inside = { 0 };
		const struct rule *r;
		uint64_t tag;

		if (wire_get_uleb(&in, &tag) ||
		    field_skip(&in, tag & 7, &inside))
			die("no valid request");
		r = rule_of(what, tag >> 3);
		memset(owner + (start - base), r ? r->part : mine,
		       (size_t)(in.pos - start));
		if (r)
			sum.elements[r->part]++;
		if (r && r->is)
			own(inside, r->is, r->part, base, owner);
	}
}

static size_t packed(const uint8_t *data, size_t len, enum compression c)
{
	struct body *b = body_make(data, len, c);
	size_t n = b ? b->len : 0;

	if (!b)
		die("out of memory");
	body_put(b);
	return n;
}

static void take_apart(const uint8_t *data, size_t len)
{
	uint8_t *owner = calloc(1, len), *rest = malloc(len);
	size_t gzip = packed(data, len, COMPRESSION_GZIP), n;
	struct wire_in in;

	if (!owner || !rest)
		die("out of memory");
	wire_init(&in, data, len, false);
	own(in, REQUEST, SCOPE, data, owner);
	for (size_t i = 0; i < len; i++)
		sum.part[owner[i]]++;
	for (unsigned int p = 0; p < PARTS; p++) {
		n = 0;
		for (size_t i = 0; i < len; i++) {
			if (owner[i] != p)
				rest[n++] = data[i];
		}
		sum.zipped[p] += gzip - packed(rest, n, COMPRESSION_GZIP);
	}
	sum.raw += len;
	sum.gzip += gzip;
	sum.zstd += packed(data, len, COMPRESSION_ZSTD);
	free(owner);
	free(rest);
}

/* --- batches ------------------------------------------------------------------------ */

static void write_first(const uint8_t *data, size_t len)
{
	FILE *f = write_to ? fopen(write_to, "wb") : NULL;

	if (write_to && (!f || fwrite(data, 1, len, f) != len || fclose(f)))
		die("cannot write");
	write_to = NULL;
}

static void one(const struct batch *b)
{
	uint64_t t0;
	uint8_t *data;
	size_t len;

	if (otlp_encode(b, &host, &data, &len))
		die("cannot encode");
	take_apart(data, len);
	write_first(data, len);
	free(data);
	sum.requests++;
	sum.events += batch_n(b, BATCH_TIMES);
	t0 = now_ns();
	for (int i = 0; i < times_more; i++) {
		if (otlp_encode(b, &host, &data, &len))
			die("cannot encode");
		free(data);
		sum.encoded += batch_n(b, BATCH_TIMES);
	}
	sum.ns += now_ns() - t0;
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
	if (batch_n(&b, BATCH_TIMES))
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
		printf("%.0f ns to encode a sample\n",
		       (double)sum.ns / (double)sum.encoded);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "r:w:")) != -1) {
		if (c == 'r')
			times_more = atoi(optarg);
		else if (c == 'w')
			write_to = optarg;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		file(argv[i]);
	print();
	return optind == argc;
}
