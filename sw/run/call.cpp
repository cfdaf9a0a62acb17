// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "call.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace downbeat {

File openProcess(pid_t thread) {
  constexpr unsigned anyThread = O_EXCL; // PIDFD_THREAD
  const auto opened = [thread](unsigned flags) { return static_cast<int>(syscall(SYS_pidfd_open, thread, flags)); };
  const int found = opened(anyThread);
  return File(found >= 0 ? found : opened(0));
}

std::optional<Call> Call::receive(int listener) {
  seccomp_notif notification{};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) return std::nullopt;
  return Call(listener, notification);
}

bool Call::waits() const { return ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &notification_.id) == 0; }

std::uint64_t Call::status(const char *name, int base) const {
  std::ifstream file("/proc/" + std::to_string(notification_.pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(line.find(':') + 1), nullptr, base);
  return 0;
}

bool Call::mayBindPrivilegedPorts() const { return (status("CapEff:", 16) >> CAP_NET_BIND_SERVICE & 1) != 0; }

File Call::file(int descriptor) const {
  File process = openProcess(thread());
  if (!process) process = openProcess(static_cast<pid_t>(status("Tgid:", 10)));
  File found(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), descriptor, 0)));
  // The number of a thread that has ended may be another's by now.
  if (found && !waits()) {
    found.reset();
    errno = ESRCH;
  }
  return found;
}

bool Call::read(void *data, std::size_t size, std::uint64_t address) const {
  const iovec own{data, size}, other{reinterpret_cast<void *>(address), size};
  return process_vm_readv(static_cast<pid_t>(notification_.pid), &own, 1, &other, 1, 0) == static_cast<ssize_t>(size) &&
         waits();
}

bool Call::write(const void *data, std::size_t size, std::uint64_t address) const {
  const iovec own{const_cast<void *>(data), size}, other{reinterpret_cast<void *>(address), size};
  return waits() &&
         process_vm_writev(static_cast<pid_t>(notification_.pid), &own, 1, &other, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<SocketAddress> Call::readAddress(std::size_t pointer, std::size_t length) const {
  SocketAddress address;
  address.length = static_cast<socklen_t>(argument(length));
  errno = EINVAL;
  if (address.length > sizeof address.storage || !read(&address.storage, address.length, argument(pointer)))
    return std::nullopt;
  return address;
}

int Call::writeAddress(const SocketAddress &address, std::uint64_t pointer, std::uint64_t lengthPointer) const {
  if (pointer == 0) return 0;
  std::int32_t space;
  if (!read(&space, sizeof space, lengthPointer)) return EFAULT;
  if (space < 0) return EINVAL;
  const auto size = std::min(static_cast<std::size_t>(space), std::size_t{address.length});
  return write(&address.storage, size, pointer) && write(&address.length, sizeof address.length, lengthPointer)
             ? 0
             : EFAULT;
}

void Call::respond(std::int64_t result, std::int32_t error, std::uint32_t flags) const {
  seccomp_notif_resp response{notification_.id, result, error, flags};
  ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void Call::goOn() const { respond(0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE); }

void Call::finish(std::int64_t result) const { respond(result, 0, 0); }

void Call::fail(int error) const { respond(0, -error, 0); }

bool Call::give(const File &file, std::uint32_t flags) const {
  seccomp_notif_addfd added{};
  added.id = notification_.id;
  added.flags = SECCOMP_ADDFD_FLAG_SEND;
  added.srcfd = static_cast<std::uint32_t>(file.get());
  added.newfd_flags = flags;
  if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &added) >= 0) return true;
  fail(errno); // its table is full
  return errno != ENOENT;
}

} // namespace downbeat
