// SPDX-License-Identifier: BSD-2-Clause-Patent
// libdownbeat_packetdrill.so: packetdrill's calls, each handed to the one stack. packetdrill reads TCP_INFO by a plain
// getsockopt: preloaded, the object answers that for descriptors of its own.
#include "interface.h"

#include <array>
#include <cerrno>
#include <cstdarg>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stack.h"

namespace {

Stack *only = nullptr;

Stack &of(void *stack) { return *static_cast<Stack *>(stack); }

/// As a system call gives it.
template <typename Result = int> Result given(Stack::Result result) {
  if (result >= 0) return static_cast<Result>(result);
  errno = static_cast<int>(-result);
  return -1;
}

ssize_t take(void *stack, int fd, void *place, size_t length, int flags) {
  const iovec one{place, length};
  return given<ssize_t>(of(stack).receive(fd, {&one, 1}, flags));
}

ssize_t put(void *stack, int fd, const void *bytes, size_t length, int flags) {
  const iovec one{const_cast<void *>(bytes), length};
  return given<ssize_t>(of(stack).send(fd, {&one, 1}, flags));
}

template <typename Length> std::span<const iovec> pieces(const iovec *first, Length count) {
  return {first, static_cast<std::size_t>(count)};
}

int fileControl(void *stack, int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  const int value = va_arg(more, int);
  va_end(more);
  if (command == F_GETFL) return given(of(stack).flags(fd, std::nullopt));
  if (command == F_SETFL) return given(of(stack).flags(fd, value));
  return given(-EINVAL);
}

int inputControl(void *stack, int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  int *bytes = va_arg(more, int *);
  va_end(more);
  return given(of(stack).queued(fd, request, *bytes));
}

const PacketdrillInterface calls{
    .stack = nullptr,
    .free =
        [](void *stack) {
          only = nullptr;
          delete static_cast<Stack *>(stack);
        },
    .socket = [](void *s, int domain, int type, int) { return given(of(s).socket(domain, type)); },
    .bind = [](void *s, int fd, const sockaddr *address, socklen_t) { return given(of(s).bind(fd, address)); },
    .listen = [](void *s, int fd, int) { return given(of(s).listen(fd)); },
    .accept = [](void *s, int fd, sockaddr *address,
                 socklen_t *length) { return given(of(s).accept(fd, address, length)); },
    .connect = [](void *s, int fd, const sockaddr *address, socklen_t) { return given(of(s).connect(fd, address)); },
    .read = [](void *s, int fd, void *place, size_t length) { return take(s, fd, place, length, 0); },
    .readv = [](void *s, int fd, const iovec *first,
                int count) { return given<ssize_t>(of(s).receive(fd, pieces(first, count), 0)); },
    .recv = [](void *s, int fd, void *place, size_t length, int flags) { return take(s, fd, place, length, flags); },
    .recvfrom = [](void *s, int fd, void *place, size_t length, int flags, sockaddr *,
                   socklen_t *) { return take(s, fd, place, length, flags); },
    .recvmsg =
        [](void *s, int fd, msghdr *message, int flags) {
          message->msg_controllen = 0;
          message->msg_flags = 0;
          return given<ssize_t>(of(s).receive(fd, pieces(message->msg_iov, message->msg_iovlen), flags));
        },
    .write = [](void *s, int fd, const void *bytes, size_t length) { return put(s, fd, bytes, length, 0); },
    .writev = [](void *s, int fd, const iovec *first,
                 int count) { return given<ssize_t>(of(s).send(fd, pieces(first, count), 0)); },
    .send = [](void *s, int fd, const void *bytes, size_t length,
               int flags) { return put(s, fd, bytes, length, flags); },
    .sendto = [](void *s, int fd, const void *bytes, size_t length, int flags, const sockaddr *,
                 socklen_t) { return put(s, fd, bytes, length, flags); },
    .sendmsg =
        [](void *s, int fd, const msghdr *message, int flags) {
          return given<ssize_t>(of(s).send(fd, pieces(message->msg_iov, message->msg_iovlen), flags));
        },
    .fcntl = fileControl,
    .ioctl = inputControl,
    .close = [](void *s, int fd) { return given(of(s).close(fd)); },
    .shutdown = [](void *s, int fd, int how) { return given(of(s).shutdown(fd, how)); },
    .getsockopt = [](void *s, int fd, int level, int name, void *value,
                     socklen_t *length) { return given(of(s).getOption(fd, level, name, value, length)); },
    .setsockopt = [](void *s, int fd, int level, int name, const void *value,
                     socklen_t length) { return given(of(s).setOption(fd, level, name, value, length)); },
    .poll = [](void *s, pollfd *fds, nfds_t count, int timeout) { return given(of(s).poll({fds, count}, timeout)); },
    .send_packet = [](void *s, const void *packet,
                      size_t length) { return given(of(s).put({static_cast<const std::uint8_t *>(packet), length})); },
    .receive_packet =
        [](void *s, void *packet, size_t *length, long long *microseconds) {
          *length = of(s).get({static_cast<std::uint8_t *>(packet), *length}, *microseconds);
          return 0;
        },
    .usleep =
        [](void *s, unsigned microseconds) {
          of(s).sleep(microseconds);
          return 0;
        },
    .gettimeofday =
        [](void *s, timeval *now, struct timezone *) {
          *now = of(s).time();
          return 0;
        },
    .epoll_create = [](void *s, int) { return given(of(s).epollCreate()); },
    .epoll_ctl = [](void *s, int epoll, int operation, int fd,
                    epoll_event *event) { return given(of(s).epollControl(epoll, operation, fd, event)); },
    .epoll_wait =
        [](void *s, int epoll, epoll_event *events, int count, int timeout) {
          return given(of(s).epollWait(epoll, {events, static_cast<std::size_t>(count)}, timeout));
        },
    .pipe = [](void *, int ends[2]) { return ::pipe(ends); },
    .splice = [](void *, int, loff_t *, int, loff_t *, size_t, unsigned) { return given<ssize_t>(-EINVAL); },
};

} // namespace

extern "C" {

void packetdrill_interface_init(const char *flags, PacketdrillInterface *interface) {
  only = new Stack(flags);
  *interface = calls;
  interface->stack = only;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length) {
  if (only != nullptr && only->owns(fd)) return given(only->getOption(fd, level, name, value, length));
  static auto *next = reinterpret_cast<decltype(&getsockopt)>(dlsym(RTLD_NEXT, "getsockopt"));
  return next(fd, level, name, value, length);
}
}
