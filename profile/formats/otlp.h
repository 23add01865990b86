/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp - a batch as an OTLP ExportProfilesServiceRequest (proto 1.10 wire)
 *
 * Used by exporterd for the network and by `trifold record` for .otlp files.
 * The bytes are written directly, field numbers as in otlp.proto; the unit
 * test reads them back through the code that protoc-c makes of that file.
 *
 * What a receiver gets (semantic conventions 1.44.0):
 *
 * - One ResourceProfiles with one Profile a process, or as otlp_how.per says.  Samples carry
 *   timestamps only; [time, time + duration) covers them.
 * - One Mapping an executable, in file offsets: memory_start and file_offset
 *   are 0, memory_limit is above every address of this request, so
 *   address - memory_start + file_offset is an offset in the file whatever the
 *   reader assumes.
 * - Conventions require a build ID on every Mapping.  Code without any (the
 *   kernel, whose addresses are offsets in the named symbol; a file that
 *   could not be parsed) has mapping 0, rather than an invented ID.  To tell such code
 *   apart, a symbol of a kernel module ends in " [module]".
 * - Every Location has a function: code without a name the one that profile_frame_name()
 *   says.  Readers leave locations without lines out, so that the samples of such code
 *   would be its callers'.
 * - Strings that are not UTF-8 have U+FFFD for each wrong byte: most receivers
 *   would refuse the whole request.
 */
#ifndef PROFILE_FORMATS_OTLP_H
#define PROFILE_FORMATS_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#ifndef TRIFOLD_VERSION
#define TRIFOLD_VERSION	"0.1.0"
#endif

#define OTLP_SCHEMA_URL	"https://opentelemetry.io/schemas/1.44.0"

enum otlp_per {
	OTLP_PER_PROCESS,
	OTLP_PER_SERVICE,
	OTLP_PER_HOST,
};

/*
 * What the sender adds and leaves out.
 *
 * .pairs: attributes of the host for every resource, with unique keys.  They cannot
 * replace the identity of a process (process.pid, process.executable.*,
 * process.creation.time, container.id): such pairs are left out.  Without a
 * service.name, a resource gets the name of its systemd service, or else of its
 * executable, or else of the process; kernel threads are "kernel".  The conventions'
 * "unknown_service" is for processes without any name.
 *
 * .nameless: code without a name in a file with an ID has an executable and an address,
 * and no function: a receiver with symbols finds it by the build ID.
 *
 * .bare: nor has native code with a name, nor files and lines.  Code in a file
 * without any ID keeps its names, and so does code of the kernel, of a kind of its own
 * (enum batch_frame_kind) and in no file, which no receiver could name.
 *
 * .per: of what there is a resource, with a profile.  Where it is no process, samples
 * have process.pid and process.executable.name, and container.id where the resource has
 * none.  A service is what has the same service.name and, if the resource has it, the
 * same container.id.  A host's service.name is its host.name, or .host_name where
 * .pairs have none; samples have that of their process.
 *
 * .only: the attributes of a process that a resource has, beside service.name; NULL:
 * all.
 */
struct otlp_how {
	const char *const *pairs;	/* key, value, key, value ...; NULL ends */
	const char *const *only;	/* keys; NULL ends */
	const char *host_name;	/* or NULL */
	enum otlp_per per;
	bool guesses;		/* stacks include guessed callers, after a location of
				 * the type "guess-marker"; else they end there, with
				 * trifold.stack.end */
	bool nameless, bare;
};

/*
 * Encode.  extra may be NULL.  Returns 0 and malloc'ed bytes; -ENOMEM; or
 * -ENODATA for a batch without samples (an empty request must not be sent).
 */
int otlp_encode(const struct batch *b, const struct otlp_how *extra,
		uint8_t **ret, size_t *len);

/* Append a file with host.name and os.* of info; nothing for a batch without samples.  0
 * or -ENOMEM. */
int otlp_encode_file(const struct batch *b, const struct profile_info *info,
		     struct buffer *out);

/* n of a batch's events (BATCH_TIMES), from `first` on. */
struct otlp_range {
	uint32_t first, n;
};

static inline struct otlp_range otlp_all(const struct batch *b)
{
	return (struct otlp_range){ 0, batch_n(b, BATCH_TIMES) };
}

/* Offsets in a request where bytes of another kind begin: the dictionary, which is at
 * the end, and each of its tables.  Ascending; names, numbers and times compress best
 * with a code for each. */
#define OTLP_CUTS	7

struct otlp_cuts {
	size_t at[OTLP_CUTS];
};

struct otlp_made {
	struct otlp_cuts cuts;
	uint32_t profiles;
};

/* otlp_encode() of r, a part of b.  The dictionary has only what these events need.
 * made may be NULL. */
int otlp_encode_range(const struct batch *b, struct otlp_range r,
		      const struct otlp_how *extra, uint8_t **ret,
		      size_t *len, struct otlp_made *made);

#endif /* PROFILE_FORMATS_OTLP_H */
