// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "filter.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace downbeat {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t ownArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t ownArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "seccomp filter: name this architecture"
#endif
constexpr std::uint32_t refused = SECCOMP_RET_ERRNO, decided = SECCOMP_RET_USER_NOTIF, allowed = SECCOMP_RET_ALLOW;
constexpr int multipath = 262; // IPPROTO_MPTCP, which Go's listeners take before TCP

class Program {
public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  /// The low half of an argument.
  void loadArgument(int index) { load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(index)); }
  void add(int code, std::uint32_t value, std::size_t ifTrue = 0, std::size_t ifFalse = 0) {
    instructions_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(ifTrue),
                             static_cast<std::uint8_t>(ifFalse), value});
  }
  void finish(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void ifEqual(std::uint32_t value, std::uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    finish(action);
  }
  void ifAnyBit(std::uint32_t bits, std::uint32_t action) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    finish(action);
  }
  /// A rule for one system call that looks at its arguments, and ends.
  void rule(long call, const Program &rule) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, rule.instructions_.size());
    instructions_.insert(instructions_.end(), rule.instructions_.begin(), rule.instructions_.end());
  }
  /// Rules for all values but one.
  void unless(std::uint32_t value, const Program &rule) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, rule.instructions_.size(), 0);
    instructions_.insert(instructions_.end(), rule.instructions_.begin(), rule.instructions_.end());
  }
  sock_fprog get() { return {static_cast<unsigned short>(instructions_.size()), instructions_.data()}; }

private:
  std::vector<sock_filter> instructions_;
};

/// A call with MSG_FASTOPEN connects and sends: EOPNOTSUPP, as of a kernel that does not offer it.
Program sends(int flags) {
  Program rule;
  rule.loadArgument(flags);
  rule.ifAnyBit(MSG_FASTOPEN, refused | EOPNOTSUPP);
  rule.finish(allowed);
  return rule;
}

/// The level of an option chooses its rule.
Program byLevel(const Program &ofSocket, const Program &ofTcp) {
  Program rule;
  rule.loadArgument(1);
  rule.rule(SOL_SOCKET, ofSocket);
  rule.rule(IPPROTO_TCP, ofTcp);
  rule.finish(allowed);
  return rule;
}

/// The core has none of these, and the leg's must not stand for them: ENOPROTOOPT, as of a kernel without them.
Program setOptions() {
  Program ofSocket, ofTcp;
  ofSocket.loadArgument(2);
  for (const std::uint32_t name : {SO_MAX_PACING_RATE, SO_LINGER, SO_KEEPALIVE}) ofSocket.ifEqual(name, decided);
  ofSocket.finish(allowed);
  ofTcp.loadArgument(2);
  for (const std::uint32_t name : {TCP_NODELAY, TCP_CONGESTION, TCP_KEEPIDLE, TCP_USER_TIMEOUT})
    ofTcp.ifEqual(name, decided);
  for (const std::uint32_t name : {TCP_MAXSEG, TCP_MD5SIG, TCP_MD5SIG_EXT, TCP_REPAIR, TCP_FASTOPEN_CONNECT})
    ofTcp.ifEqual(name, refused | ENOPROTOOPT);
  constexpr std::uint32_t firstAuthentication = 38, lastAuthentication = 42; // TCP_AO_ADD_KEY to TCP_AO_REPAIR
  for (std::uint32_t name = firstAuthentication; name <= lastAuthentication; ++name)
    ofTcp.ifEqual(name, refused | ENOPROTOOPT);
  ofTcp.finish(allowed);
  return byLevel(ofSocket, ofTcp);
}

Program queues() {
  Program rule;
  rule.loadArgument(1);
  rule.ifEqual(SIOCOUTQ, decided);
  rule.finish(allowed);
  return rule;
}

Program getOptions() {
  Program ofSocket, ofTcp;
  ofSocket.loadArgument(2);
  for (const std::uint32_t name : {SO_ERROR, SO_MAX_PACING_RATE}) ofSocket.ifEqual(name, decided);
  ofSocket.finish(allowed);
  ofTcp.loadArgument(2);
  for (const std::uint32_t name : {TCP_MAXSEG, TCP_CONGESTION, TCP_INFO}) ofTcp.ifEqual(name, decided);
  ofTcp.finish(allowed);
  return byLevel(ofSocket, ofTcp);
}

Program onlyTcp() {
  Program rule;
  rule.loadArgument(2);
  rule.ifEqual(multipath, refused | EPROTONOSUPPORT);
  rule.finish(allowed);
  return rule;
}

/// Calls of another architecture have other numbers. Those of sockets are refused, so that none passes.
Program foreignCalls() {
  Program rule;
  rule.load(offsetof(seccomp_data, nr));
  constexpr std::uint32_t socketcall = 102, firstSocket = 359, lastSocket = 373, ioUringSetup = 425; // i386
  rule.ifEqual(socketcall, refused | ENOSYS);
  rule.ifEqual(ioUringSetup, refused | ENOSYS);
  rule.add(BPF_JMP | BPF_JGE | BPF_K, firstSocket, 0, 2);
  rule.add(BPF_JMP | BPF_JGT | BPF_K, lastSocket, 1, 0);
  rule.finish(refused | ENOSYS);
  rule.finish(allowed);
  return rule;
}

Program filter() {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.unless(ownArchitecture, foreignCalls());
  program.load(offsetof(seccomp_data, nr));
  for (const long call :
       {SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname, SYS_getpeername, SYS_shutdown})
    program.ifEqual(static_cast<std::uint32_t>(call), decided);
  program.ifEqual(SYS_io_uring_setup, refused | ENOSYS); // its operations pass no filter
  program.rule(SYS_getsockopt, getOptions());
  program.rule(SYS_setsockopt, setOptions());
  program.rule(SYS_ioctl, queues());
  program.rule(SYS_socket, onlyTcp());
  program.rule(SYS_sendto, sends(3));
  program.rule(SYS_sendmsg, sends(2));
  program.rule(SYS_sendmmsg, sends(3));
#if defined(__x86_64__)
  constexpr std::uint32_t x32 = 0x4000'0000; // the other numbers of this architecture
  program.ifAnyBit(x32, refused | ENOSYS);
#endif
  program.finish(allowed);
  return program;
}

} // namespace

File installFilter() {
  Program program = filter();
  const sock_fprog instructions = program.get();
  const auto install = [&] {
    return static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &instructions));
  };
  int listener = install();
  if (listener < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) listener = install();
  return File(listener);
}

} // namespace downbeat
