// SPDX-License-Identifier: BSD-2-Clause-Patent
// The seccomp filter of the program and its children: which system calls the supervisor decides (seccomp(2)).
#pragma once

#include "file.h"

namespace downbeat {

/// Puts this process under the filter. Its calls then come from the descriptor that is returned
/// (SECCOMP_RET_USER_NOTIF); without one, errno says why. A process that may not filter otherwise loses its right to
/// new privileges: set-user-ID programs are then as others (PR_SET_NO_NEW_PRIVS).
File installFilter();

} // namespace downbeat
