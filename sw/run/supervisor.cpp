// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "supervisor.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "errors.h"
#include "messages.h"
#include "report.h"

namespace downbeat {

namespace {

constexpr int tick = 50; // ms between two checks of what no descriptor announces
constexpr std::uint16_t trialPort = 1;

} // namespace

Supervisor::Supervisor(downbeat_device *device, Leg leg, File calls, File front, File children, pid_t program,
                       const downbeat_options &options)
    : device_(device),
      leg_(std::move(leg)),
      calls_(std::move(calls)),
      front_(std::move(front)),
      children_(std::move(children)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      program_(program),
      options_(options) {
  downbeat_device_info_of(device, &info_);
  watch(downbeat_descriptor(device_), ofDevice, EPOLLIN);
  watch(calls_.get(), ofCalls, EPOLLIN);
  watch(front_.get(), ofFront, EPOLLIN);
  watch(children_.get(), ofChildren, EPOLLIN);
  downbeat_connect(device_, info_.ip, trialPort, 0, nullptr, &trial_);
}

void Supervisor::watch(int descriptor, std::uint64_t name, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

bool Supervisor::done() const { return programEnded_ && program_ == 0 && bridges_.empty() && silent_.empty(); }

void Supervisor::run() {
  reap();
  while (!done()) {
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), tick);
    for (int each = 0; each < count; ++each) {
      const epoll_event &event = events[static_cast<std::size_t>(each)];
      handle(event.data.u64, event.events);
    }
    tidy();
  }
}

void Supervisor::handle(std::uint64_t name, std::uint32_t events) {
  const auto low = static_cast<std::uint32_t>(name);
  switch (name - low) {
  case ofDevice: this->events(); break;
  case ofCalls:
    if ((events & EPOLLIN) != 0) {
      decide();
    } else { // no process has the filter any more
      programEnded_ = true;
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, calls_.get(), nullptr);
    }
    break;
  case ofFront: // killed: so is the program
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, front_.get(), nullptr);
    if (program_ != 0) kill(program_, SIGKILL);
    break;
  case ofChildren: reap(); break;
  case ofAccepting: accepting(low); break;
  case ofBridge: step(low, events); break;
  }
}

void Supervisor::reap() {
  signalfd_siginfo signal;
  while (read(children_.get(), &signal, sizeof signal) > 0) {}
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (ended != program_) continue;
    Report report;
    report.kind = WIFSTOPPED(status) ? ReportKind::stopped : ReportKind::ended;
    report.status = status;
    if (report.kind == ReportKind::ended) {
      program_ = 0;
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, front_.get(), nullptr);
    }
    sendMessage(front_.get(), &report, sizeof report);
  }
}

void Supervisor::decide() {
  const auto call = Call::receive(calls_.get());
  if (!call) return;
  switch (call->number()) {
  case SYS_connect: return tidyListeners(), connect(*call);
  case SYS_bind: return tidyCalls(), bind(*call);
  case SYS_listen: return tidyListeners(), listen(*call);
  case SYS_accept:
  case SYS_accept4: return accept(*call);
  case SYS_getsockname: return localName(*call);
  case SYS_getpeername: return remoteName(*call);
  case SYS_setsockopt: return control(*call);
  case SYS_getsockopt: return getOption(*call);
  case SYS_ioctl: return queue(*call);
  case SYS_shutdown: return shutdown(*call);
  default: return call->goOn();
  }
}

Bridge &Supervisor::add(downbeat_connection *connection) {
  auto made = std::make_unique<Bridge>(connection, ++serial_, info_.mss);
  downbeat_set_context(connection, made.get());
  return *bridges_.emplace(serial_, std::move(made)).first->second;
}

void Supervisor::events() {
  std::array<downbeat_item, 64> items;
  std::int64_t count;
  do {
    count = downbeat_poll(device_, items.data(), items.size());
    for (std::int64_t each = 0; each < count; ++each) {
      const downbeat_item &item = items[static_cast<std::size_t>(each)];
      if (item.listener != nullptr)
        listening(static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(item.context)));
      else if (item.connection == trial_)
        tried();
      else if (item.context != nullptr)
        step(static_cast<Bridge *>(item.context)->serial());
    }
  } while (count == static_cast<std::int64_t>(items.size()));
  if (count < 0) deviceGone();
}

void Supervisor::tried() {
  downbeat_connection_info_t info;
  downbeat_connection_info(trial_, &info);
  if (info.error == 0 && info.established == 0) return;
  reachesItself_ = info.error != DOWNBEAT_UNREACHABLE;
  downbeat_abort(trial_);
  trial_ = nullptr;
}

void Supervisor::deviceGone() {
  trial_ = nullptr;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, downbeat_descriptor(device_), nullptr);
  deviceGone_ = true;
  for (auto &[serial, each] : opening_) finish(each, ENETDOWN);
  for (auto &[port, each] : listeners_)
    if (each->call) each->call->fail(ENETDOWN);
  opening_.clear();
  listeners_.clear();
  bridges_.clear(); // their programs hear a reset
  std::vector<std::uint32_t> waiting;
  for (const auto &[number, each] : accepting_) waiting.push_back(number);
  for (const std::uint32_t number : waiting) accepting(number);
}

void Supervisor::step(std::uint32_t serial, std::uint32_t events) {
  const auto found = bridges_.find(serial);
  if (found == bridges_.end()) return;
  Bridge &bridge = *found->second;
  if (!bridge.joined() && !opened(bridge)) return;
  const bool goesOn = bridge.step();
  if (goesOn && (events & EPOLLERR) == 0) return;
  if (goesOn) bridge.reset();
  if (bridge.error() == ETIMEDOUT) timeOut(bridge);
  bridges_.erase(serial);
}

void Supervisor::tidy() {
  static auto next = Clock::now();
  const auto now = Clock::now();
  if (now < next) return;
  next = now + std::chrono::milliseconds(tick);
  std::vector<std::uint32_t> waiting;
  for (const auto &[serial, bridge] : bridges_)
    if (bridge->waitsForProgram() || opening_.contains(serial)) waiting.push_back(serial);
  for (const std::uint32_t serial : waiting) step(serial);
  waiting.clear();
  for (const auto &[number, each] : accepting_)
    if (each.until < now) waiting.push_back(number);
  for (const std::uint32_t number : waiting) accepting(number);
  std::erase_if(ownOpening_, [this](const auto &each) { return connectsToOwn(each); });
  std::erase_if(silent_, [now](const auto &each) { return each.first < now; });
  std::erase_if(sockets_, [this](const auto &each) {
    return !bridges_.contains(each.second.serial) && !each.second.presence->isOpen();
  });
  std::erase_if(policies_, [](const auto &each) { return !each.second.presence->isOpen(); });
  tidyListeners();
}

void Supervisor::tidyCalls() {
  for (auto &[serial, each] : opening_)
    if (each.call && !each.call->waits()) each.leave();
  std::vector<std::uint32_t> left;
  for (const auto &[number, each] : accepting_)
    if (!each.call.waits()) left.push_back(number);
  for (const std::uint32_t number : left) accepting(number);
}

void Supervisor::tidyListeners() {
  tidyCalls();
  std::vector<std::uint16_t> ports;
  for (const auto &[port, listener] : listeners_) {
    std::erase_if(listener->sockets, [](const auto &each) { return !each.second.isOpen(); });
    if (listener->sockets.empty() && !listener->call) ports.push_back(port);
  }
  for (const std::uint16_t port : ports) {
    downbeat_unlisten(listeners_.at(port)->listener);
    listeners_.erase(port);
    std::erase_if(arrived_, [port](const auto &each) { return each.second.listener == port; });
  }
}

} // namespace downbeat
