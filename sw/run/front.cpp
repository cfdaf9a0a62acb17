// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "front.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "messages.h"
#include "report.h"

namespace downbeat {

namespace {

[[noreturn]] void endAs(int status) {
  if (!WIFSIGNALED(status)) std::_Exit(WEXITSTATUS(status));
  const rlimit none{0, 0}; // the program has dumped its core
  setrlimit(RLIMIT_CORE, &none);
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::_Exit(128 + number);
}

/// A terminal signals its whole process group, and so the program; others signal this process alone.
void passOn(const File &signals, pid_t program) {
  signalfd_siginfo signal;
  if (read(signals.get(), &signal, sizeof signal) != sizeof signal) return;
  if (signal.ssi_code <= 0 && signal.ssi_signo != SIGCHLD) kill(program, static_cast<int>(signal.ssi_signo));
}

} // namespace

sigset_t passedSignals() {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, own);
  return all;
}

void fail(const std::string &problem) {
  std::fprintf(stderr, "downbeat run: %s\n", problem.c_str());
  std::_Exit(126);
}

void beFront(File supervisor) {
  Report report;
  if (!receiveMessage(supervisor.get(), &report, sizeof report)) fail("the supervisor ended at once");
  if (report.kind == ReportKind::problem) fail(report.problem);
  const pid_t program = report.program;

  const sigset_t passed = passedSignals();
  const File signals(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  // Readers of the streams wait for the program's end of them, not for this one.
  const File nothing(open("/dev/null", O_RDWR));
  for (const int stream : {0, 1, 2}) dup2(nothing.get(), stream);
  for (;;) {
    pollfd waits[] = {{signals.get(), POLLIN, 0}, {supervisor.get(), POLLIN, 0}};
    ::poll(waits, 2, -1);
    if ((waits[0].revents & POLLIN) != 0) passOn(signals, program);
    if (waits[1].revents == 0) continue;
    if (!receiveMessage(supervisor.get(), &report, sizeof report)) break;
    if (report.kind == ReportKind::ended) endAs(report.status);
    if (report.kind == ReportKind::stopped) raise(SIGSTOP);
  }
  // The supervisor has died, and the program is this process's child.
  int status = 126 << 8;
  for (pid_t ended; (ended = waitpid(-1, &status, 0)) != program && ended > 0;) {}
  endAs(status);
}

} // namespace downbeat
