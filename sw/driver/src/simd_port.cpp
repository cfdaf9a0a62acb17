// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "simd_port.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "downbeat_host.h"
#include "messages.h"
#include "setup.h"

namespace downbeat {

File connectToNic(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, "simd: takes the path of a NIC's socket, of at most 107 characters");
  path.copy(address.sun_path, path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';
  File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), length) == 0) return socket;
  if (errno == EACCES)
    throw Failure(DOWNBEAT_NO_PERMISSION, path + ": no permission: the NIC's owner sets it (downbeat nic --mode)");
  throw Failure(DOWNBEAT_NO_DEVICE, path + ": no NIC listens there: start one with downbeat nic --socket " + path);
}

SimdPort::SimdPort(const std::string &path) : socket_(connectToNic(path)) {
  nic::Hello hello;
  hello.formatNumber = format::number;
  hello.formatHash = DOWNBEAT_HOST_FORMAT_HASH;
  nic::Welcome welcome;
  std::vector<File> files;
  if (!sendMessage(socket_.get(), &hello, sizeof hello) ||
      !receiveMessage(socket_.get(), &welcome, sizeof welcome, &files))
    throw Failure(DOWNBEAT_WRONG_VERSION, path + ": the NIC speaks another protocol than this libdownbeat (" +
                                              std::to_string(nic::protocol) + "): build both from one release");
  welcome.problem[sizeof welcome.problem - 1] = '\0';
  if (welcome.error != DOWNBEAT_OK) throw Failure(welcome.error, path + ": " + welcome.problem);
  if (files.size() != nic::welcomeFiles) throw Failure(DOWNBEAT_NO_DEVICE, path + ": the NIC gives no memory");
  geometry_ = welcome.geometry;
  memory_ = Mapping(files[0].get(), welcome.memoryBytes);
  mailboxMemory_ = Mapping(files[1].get(), sizeof(nic::Mailbox));
  mailbox_ = reinterpret_cast<nic::Mailbox *>(mailboxMemory_.base());
  wake_ = std::move(files[2]);
  interrupt_ = std::move(files[3]);
  rings_ = ringsOf(geometry_, memory_.base(), geometry_.port);

  // One descriptor for the interrupt and the process's end.
  poll_ = File(epoll_create1(EPOLL_CLOEXEC));
  for (const int each : {interrupt_.get(), socket_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, each, &event);
  }
}

bool SimdPort::alive() const {
  pollfd state{socket_.get(), POLLIN, 0};
  return ::poll(&state, 1, 0) <= 0; // it says nothing but its end; a signal (EINTR) says nothing of it
}

void SimdPort::wake() {
  // The tail was written before the flag is read here; the process sets the flag before it reads the tail.
  if (mailbox_->sleeps.load(std::memory_order_seq_cst) != 0) eventfd_write(wake_.get(), 1);
}

void SimdPort::put(std::uint32_t offset, std::uint32_t value) {
  const std::uint32_t tail = mailbox_->tail.load(std::memory_order_relaxed);
  while (tail - mailbox_->head.load(std::memory_order_acquire) >= nic::Mailbox::entries) {
    if (!alive()) return;
    eventfd_write(wake_.get(), 1);
    sched_yield();
  }
  mailbox_->ring[tail % nic::Mailbox::entries] = {offset, value};
  mailbox_->tail.store(tail + 1, std::memory_order_seq_cst);
}

void SimdPort::ring(std::uint32_t offset, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  put(offset, value);
  wake();
}

void SimdPort::ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) {
  const std::lock_guard lock(mutex_);
  put(offset, low);
  put(offset + 4, high);
  wake();
}

std::uint32_t SimdPort::commandHead() {
  mailbox_->headWanted.store(1, std::memory_order_seq_cst);
  wake();
  return mailbox_->commandHead.load(std::memory_order_acquire);
}

void SimdPort::clearInterrupt() {
  eventfd_t count;
  eventfd_read(interrupt_.get(), &count);
}

void SimdPort::started(std::uint32_t reference, std::uint32_t source) {
  ring(nic::startNote, reference | source << 24);
}

} // namespace downbeat
