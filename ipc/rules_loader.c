// SPDX-License-Identifier: Apache-2.0
#include "ipc/rules_loader.h"

const struct msg_rule msg_rules[MSG__MAX] = { MSG_RULES_LOADER };
