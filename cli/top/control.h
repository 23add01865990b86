/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_control - messages between the two processes of `trifold top`
 *
 * Over a SOCK_SEQPACKET pair, one struct per message.  The display may be
 * compromised: of its messages only .word is used.
 */
#ifndef CLI_TOP_CONTROL_H
#define CLI_TOP_CONTROL_H

#include <stdint.h>

enum top_word {
	/* parent to display */
	TOP_FEED = 1,		/* a connection to symbolizerd: one descriptor */
	TOP_LINE,		/* .text is a message of a daemon */
	TOP_SUSPEND,		/* give the terminal back, then TOP_SUSPENDED */
	TOP_RESUME,
	TOP_QUIT,
	/* display to parent */
	TOP_CONNECT,		/* asks for another connection */
	TOP_SUSPENDED,
};

struct top_msg {
	uint32_t word;
	uint32_t hub_uid;	/* TOP_FEED: uid of the peer */
	char text[192];		/* TOP_LINE, NUL-terminated */
};

/* Send; fd: a descriptor to pass (borrowed), or -1.  0 or -errno. */
int top_tell(int control, const struct top_msg *m, int fd);

/* Receive; fd: for a descriptor that arrived (-1: none), or NULL to take none.  0;
 * -EAGAIN; -EPIPE when the peer is gone; or -errno. */
int top_hear(int control, struct top_msg *m, int *fd);

#endif /* CLI_TOP_CONTROL_H */
