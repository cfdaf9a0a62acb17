// SPDX-License-Identifier: BSD-2-Clause-Patent
// Calls that read: where the kernel says ECONNRESET of a local socket, they say why its connection ended. What reads in
// another way (stdio, splice, io_uring) gets ECONNRESET.
#undef _FORTIFY_SOURCE // the C library's own definitions of these
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "real.h"
#include "takeover.h"

extern "C" { // programs that were compiled with _FORTIFY_SOURCE call these
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, sockaddr *, socklen_t *);
}

namespace {

ssize_t withReason(int descriptor, ssize_t result) {
  if (result < 0 && errno == ECONNRESET) errno = downbeat::reasonOf(descriptor, errno);
  return result;
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED ssize_t read(int descriptor, void *data, size_t size) {
  return withReason(descriptor, REAL(read)(descriptor, data, size));
}

EXPORTED ssize_t readv(int descriptor, const iovec *parts, int count) {
  return withReason(descriptor, REAL(readv)(descriptor, parts, count));
}

EXPORTED ssize_t recv(int descriptor, void *data, size_t size, int flags) {
  return withReason(descriptor, REAL(recv)(descriptor, data, size, flags));
}

EXPORTED ssize_t recvfrom(int descriptor, void *data, size_t size, int flags, sockaddr *address, socklen_t *length) {
  return withReason(descriptor, REAL(recvfrom)(descriptor, data, size, flags, address, length));
}

EXPORTED ssize_t recvmsg(int descriptor, msghdr *message, int flags) {
  return withReason(descriptor, REAL(recvmsg)(descriptor, message, flags));
}

EXPORTED ssize_t __read_chk(int descriptor, void *data, size_t size, size_t space) {
  return withReason(descriptor, REAL(__read_chk)(descriptor, data, size, space));
}

EXPORTED ssize_t __recv_chk(int descriptor, void *data, size_t size, size_t space, int flags) {
  return withReason(descriptor, REAL(__recv_chk)(descriptor, data, size, space, flags));
}

EXPORTED ssize_t __recvfrom_chk(int descriptor, void *data, size_t size, size_t space, int flags, sockaddr *address,
                                socklen_t *length) {
  return withReason(descriptor, REAL(__recvfrom_chk)(descriptor, data, size, space, flags, address, length));
}
