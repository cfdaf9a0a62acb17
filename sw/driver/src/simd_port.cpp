// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "simd_port.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "downbeat_host.h"
#include "messages.h"
#include "setup.h"

namespace downbeat {

namespace {

constexpr timeval welcomeTimeout{10, 0}; // for a NIC that is stopped

} // namespace

File connectToNic(const std::string &path) {
  const sockaddr_un address = nic::addressOf(path);
  File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  for (const int each : {SO_RCVTIMEO, SO_SNDTIMEO}) // connect is a kind of sending
    setsockopt(socket.get(), SOL_SOCKET, each, &welcomeTimeout, sizeof welcomeTimeout);
  if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) {
    ucred owner{};
    socklen_t length = sizeof owner;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0 &&
        (owner.uid == 0 || owner.uid == geteuid()))
      return socket;
    throw Failure(DOWNBEAT_NO_PERMISSION, path + ": the NIC is of user " + std::to_string(owner.uid) +
                                              ": a program uses its own user's or root's alone");
  }
  if (errno == EACCES)
    throw Failure(DOWNBEAT_NO_PERMISSION, path + ": no permission: the NIC's owner sets it (downbeat nic --mode)");
  throw Failure(DOWNBEAT_NO_DEVICE, path + ": no NIC listens there: start one with downbeat nic --device simd:" + path);
}

SimdPort::SimdPort(const std::string &path) : socket_(connectToNic(path)) {
  nic::Hello hello;
  hello.formatNumber = format::number;
  hello.formatHash = DOWNBEAT_HOST_FORMAT_HASH;
  nic::Welcome welcome;
  std::vector<File> files;
  errno = 0;
  const bool heard = sendMessage(socket_.get(), &hello, sizeof hello) &&
                     receiveMessage(socket_.get(), &welcome, sizeof welcome, &files);
  if (!heard && errno == EAGAIN) throw Failure(DOWNBEAT_NO_DEVICE, path + ": the NIC does not answer: is it stopped?");
  if (!heard)
    throw Failure(DOWNBEAT_WRONG_VERSION, path + ": the NIC speaks another protocol than this libdownbeat (" +
                                              std::to_string(nic::protocol) + "): build both from one release");
  welcome.problem[sizeof welcome.problem - 1] = '\0';
  if (welcome.error != DOWNBEAT_OK) throw Failure(welcome.error, path + ": " + welcome.problem);
  geometry_ = welcome.geometry;
  if (!isPossible(geometry_) || welcome.memoryBytes != memoryBytes(geometry_, geometry_.ports))
    throw Failure(DOWNBEAT_NO_DEVICE, path + ": the NIC names sizes that no core has");
  if (files.size() != nic::welcomeFiles || !isSharedMemory(files[0].get(), welcome.memoryBytes) ||
      !isSharedMemory(files[1].get(), sizeof(nic::Mailbox)))
    throw Failure(DOWNBEAT_NO_DEVICE, path + ": the NIC gives no memory of its size that is sealed");
  memory_ = Mapping(files[0].get(), welcome.memoryBytes);
  mailboxMemory_ = Mapping(files[1].get(), sizeof(nic::Mailbox));
  mailbox_ = reinterpret_cast<nic::Mailbox *>(mailboxMemory_.base());
  rings_ = ringsOf(geometry_, memory_.base(), geometry_.port);
}

SimdPort::~SimdPort() { shutdown(socket_.get(), SHUT_RDWR); } // a forked child may have it too

bool SimdPort::alive() const {
  pollfd state{socket_.get(), 0, 0}; // its end alone (POLLHUP); a signal (EINTR) says nothing of it
  return ::poll(&state, 1, 0) <= 0;
}

void SimdPort::wake() {
  // The tail was written before the flag is read here; the process sets the flag before it reads the tail.
  if (mailbox_->sleeps.load(std::memory_order_seq_cst) != 0) sendWake(socket_.get());
}

void SimdPort::put(std::uint32_t offset, std::uint32_t value) {
  const std::uint32_t tail = mailbox_->tail.load(std::memory_order_relaxed);
  while (tail - mailbox_->head.load(std::memory_order_acquire) >= nic::Mailbox::entries) {
    if (!alive()) return;
    sendWake(socket_.get());
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

void SimdPort::clearInterrupt() { takeWakes(socket_.get()); }

void SimdPort::started(std::uint32_t reference, std::uint32_t source) {
  ring(nic::startNote, reference | source << 24);
}

} // namespace downbeat
