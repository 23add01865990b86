/* SPDX-License-Identifier: Apache-2.0 */
/* rules - the rule and the name of each message */
#ifndef IPC_RULES_H
#define IPC_RULES_H

#include "ipc/message.h"

const struct msg_rule *msg_rule(unsigned int type);	/* NULL: no such */
const char *msg_type_name(unsigned int type);		/* "EXE", or "?" */

#endif /* IPC_RULES_H */
