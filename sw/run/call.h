// SPDX-License-Identifier: BSD-2-Clause-Patent
// A system call of the program that the filter has stopped: its arguments, memory and descriptors, and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <linux/seccomp.h>

#include "endpoint.h"
#include "file.h"

namespace downbeat {

/// A pidfd of a process or, from Linux 6.9 on, of any thread.
File openProcess(pid_t thread);

/// Until one of goOn, finish, fail and give is called the thread waits. All are harmless once it does not wait any
/// more, because of a signal or its end.
class Call {
public:
  /// The next one; nothing if the thread has left it, or there is none.
  static std::optional<Call> receive(int listener);

  int number() const { return notification_.data.nr; }
  std::uint64_t argument(std::size_t index) const { return notification_.data.args[index]; }
  int descriptorArgument() const { return static_cast<int>(argument(0)); }
  std::uint64_t identity() const { return notification_.id; }
  /// Whether the thread still waits.
  bool waits() const;

  /// The file of a descriptor of the program; none, and errno.
  File file(int descriptor) const;
  /// False: that memory is not the program's, or must not be read (errno).
  bool read(void *data, std::size_t size, std::uint64_t address) const;
  bool write(const void *data, std::size_t size, std::uint64_t address) const;
  /// The socket address that two arguments give.
  std::optional<SocketAddress> readAddress(std::size_t pointer, std::size_t length) const;
  /// As getsockname gives it: no more than there is space for, and the whole length. 0 or an errno.
  int writeAddress(const SocketAddress &address, std::uint64_t pointer, std::uint64_t lengthPointer) const;
  /// Whether the thread may bind ports below net.ipv4.ip_unprivileged_port_start.
  bool mayBindPrivilegedPorts() const;
  pid_t thread() const { return static_cast<pid_t>(notification_.pid); }

  /// The kernel does it.
  void goOn() const;
  void finish(std::int64_t result) const;
  void fail(int error) const;
  /// 0 or an errno.
  void settle(int error) const { error == 0 ? finish(0) : fail(error); }
  /// The result is a descriptor for `file`; `flags`: O_CLOEXEC. False: the thread does not wait any more.
  bool give(const File &file, std::uint32_t flags) const;

private:
  Call(int listener, const seccomp_notif &notification) : listener_(listener), notification_(notification) {}
  void respond(std::int64_t result, std::int32_t error, std::uint32_t flags) const;
  /// The value behind a line's name in /proc/TID/status.
  std::uint64_t status(const char *name, int base) const;

  int listener_;
  seccomp_notif notification_;
};

} // namespace downbeat
