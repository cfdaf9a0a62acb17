// SPDX-License-Identifier: BSD-2-Clause-Patent
// Programs come and go.
#include <algorithm>
#include <cstring>
#include <fstream>

#include <sys/socket.h>
#include <sys/syscall.h>

#include "downbeat_host.h"
#include "formatted.h"
#include "messages.h"
#include "model_port.h"
#include "nic.h"
#include "ring.h"

namespace downbeat::nic {

namespace {

constexpr std::uint32_t holdOff = 20'000; // ns
constexpr std::size_t maxStrangers = 64;
constexpr int entriesAtOnce = 32; // a mailbox: then the next port has its turn
constexpr std::uint64_t commandTimeout = DOWNBEAT_NANOSECONDS(1'000'000); // for a ring full of commands
constexpr std::uint64_t pollInterval = DOWNBEAT_NANOSECONDS(10'000); // between two reads of what the core has done

/// The name of the program that downbeat-run has started, or else the process's own.
std::string nameOf(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process);
  std::string name;
  std::getline(std::ifstream(directory + "/comm"), name);
  std::ifstream words(directory + "/cmdline");
  const auto baseName = [](const std::string &path) { return path.substr(path.rfind('/') + 1); };
  if (std::string word; std::getline(words, word, '\0') && baseName(word) == "downbeat-run") {
    while (std::getline(words, word, '\0') && word != "--") {}
    if (std::getline(words, word, '\0')) name = baseName(word);
  }
  return name;
}

void say(Welcome &welcome, int error, const std::string &problem) {
  welcome.error = error;
  welcome.problem[problem.copy(welcome.problem, sizeof welcome.problem - 1)] = '\0';
}

/// A port's start is followed by a status of each of its flows: ample time for all of them.
std::uint64_t announcement(const Geometry &geometry) {
  return DOWNBEAT_NANOSECONDS(std::uint64_t{geometry.flows} * 1000 + 50'000);
}

} // namespace

void Nic::accept() {
  File socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  if (strangers_.size() == maxStrangers) strangers_.pop_front();
  strangers_.push_back(std::move(socket));
}

void Nic::welcome(const std::vector<pollfd> &polled) {
  for (auto each = strangers_.begin(); each != strangers_.end();) {
    const auto stranger = each++;
    const auto spoke = [&](const pollfd &one) { return one.fd == stranger->get() && one.revents != 0; };
    if (std::ranges::none_of(polled, spoke)) continue;
    respond(std::move(*stranger));
    strangers_.erase(stranger);
  }
}

void Nic::respond(File socket) {
  Hello hello;
  if (!receiveMessage(socket.get(), &hello, sizeof hello) || hello.protocol != protocol) return;
  if (hello.wish == Wish::connections) return startListing(std::move(socket));
  if (hello.wish == Wish::device) return tellDevice(socket);
  Welcome welcome;
  welcome.geometry = geometry_;
  welcome.memoryBytes = memory_.bytes();
  try {
    sameFormat("this NIC", format::number, DOWNBEAT_HOST_FORMAT_HASH, geometry_.version);
    if (hello.formatNumber != format::number || hello.formatHash != DOWNBEAT_HOST_FORMAT_HASH)
      throw Failure(DOWNBEAT_WRONG_VERSION,
                    formatted("the NIC has host format %u/%08x, this libdownbeat %u/%08x: build both from one release",
                              format::number, DOWNBEAT_HOST_FORMAT_HASH, hello.formatNumber, hello.formatHash));
    if (freePorts_.empty())
      throw Failure(DOWNBEAT_NO_PORT, "all " + std::to_string(geometry_.ports) +
                                          " ports are taken: end a program "
                                          "(downbeat ls), or build with more ports");
    give(std::move(socket), welcome);
  } catch (const Failure &failure) {
    say(welcome, failure.code, failure.what());
    sendMessage(socket.get(), &welcome, sizeof welcome);
  }
}

void Nic::give(File socket, Welcome &response) {
  const std::uint32_t port = *freePorts_.begin();
  const File mailboxFile = sharedMemory("downbeat-mailbox", sizeof(Mailbox));
  Client client{.socket = {},
                .port = port,
                .mailboxMemory = Mapping(mailboxFile.get(), sizeof(Mailbox)),
                .watcher = Watcher(ringsOf(geometry_, memory_.base(), port), geometry_.flows),
                .ended = {},
                .program = {}};
  client.mailbox = reinterpret_cast<Mailbox *>(client.mailboxMemory.base());
  client.mailbox->sleeps = 1;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) {
    client.process = peer.pid;
    client.ended = File(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)));
    client.program = nameOf(peer.pid);
  }
  startPort(model_, geometry_, port, {memory_.base(), 0}, holdOff);
  model_.advance(model_.now() + announcement(geometry_)); // what the port had comes before the program's first command
  freePorts_.erase(port);
  response.geometry.port = port;
  const int files[welcomeFiles] = {memoryFile_.get(), mailboxFile.get()};
  const bool sent = sendMessage(socket.get(), &response, sizeof response, files);
  client.socket = std::move(socket);
  clients_.push_back(std::move(client));
  if (!sent) leave(clients_.back());
}

bool Nic::doorbells(Client &client) {
  Mailbox &mailbox = *client.mailbox;
  const std::uint32_t page = format::doorbellPages + client.port * format::pageBytes;
  const std::uint32_t tail = mailbox.tail.load(std::memory_order_acquire);
  const bool any = client.head != tail;
  if (tail - client.head > Mailbox::entries) { // it cannot be: the program has no more to say
    shutdown(client.socket.get(), SHUT_RDWR);
    client.head = tail;
  }
  for (int left = entriesAtOnce; client.head != tail && left > 0; --left, ++client.head) {
    const Mailbox::Entry entry = mailbox.ring[client.head % Mailbox::entries];
    if (entry.offset == startNote) client.watcher.started(entry.value);
    if (entry.offset >= format::pageBytes) continue;
    if (entry.offset == format::commandTail) client.watcher.commands(entry.value);
    if (entry.offset == format::notificationHead || entry.offset == format::notificationHeadArm) {
      client.watcher.notifications();
      client.raised = false;
    }
    model_.write(page + entry.offset, entry.value);
  }
  mailbox.head.store(client.head, std::memory_order_release);
  if (mailbox.headWanted.exchange(0, std::memory_order_acquire) != 0) {
    mailbox.commandHead.store(model_.read(page + format::commandHead), std::memory_order_release);
    sendWake(client.socket.get());
  }
  return any;
}

void Nic::interrupts() {
  const std::uint32_t raised = model_.interrupts();
  for (Client &client : clients_)
    if ((raised >> client.port & 1) != 0 && !client.raised) client.raised = sendWake(client.socket.get());
}

void Nic::programs(std::vector<pollfd>::const_iterator polled) {
  for (auto each = clients_.begin(); each != clients_.end(); polled += 2) {
    Client &client = *each++;
    if (polled[1].revents != 0 || (polled[0].revents != 0 && !takeWakes(client.socket.get()))) leave(client);
  }
  for (auto each = listings_.begin(); each != listings_.end(); ++polled) {
    const auto listing = each++;
    if (polled->revents != 0 && !tellRows(*listing)) listings_.erase(listing);
  }
}

void Nic::leave(Client &client) {
  for (std::uint32_t left = Mailbox::entries / entriesAtOnce; left > 0 && doorbells(client); --left) {} // last words
  const std::uint32_t port = client.port;
  finish(port, client.watcher.commandTail());
  const std::set<std::uint16_t> listeners = client.watcher.listeners;
  std::erase_if(clients_, [&](const Client &each) { return &each == &client; });
  reap(port, listeners);
  freePorts_.insert(port);
}

void Nic::finish(std::uint32_t port, std::uint32_t tail) {
  const std::uint32_t head = format::doorbellPages + port * format::pageBytes + format::commandHead;
  const std::uint64_t begin = model_.now();
  while (model_.read(head) != tail && model_.now() - begin < commandTimeout)
    model_.advance(model_.now() + pollInterval);
}

void Nic::reap(std::uint32_t port, const std::set<std::uint16_t> &listeners) {
  stopPort(model_, port);
  startPort(model_, geometry_, port, {memory_.base(), 0}, holdOff); // it hears of each connection that is left
  ModelPort own(model_, geometry_, memory_.base(), port);
  CommandRing commands(own);
  NotificationRing notifications(own);
  for (const std::uint16_t number : listeners) {
    format::Command command;
    command.opcode = format::Opcode::unlisten;
    command.localPort = number;
    commands.push(command);
  }
  const std::uint64_t begin = model_.now(), announced = announcement(geometry_);
  std::set<std::pair<std::uint32_t, std::uint32_t>> aborted;
  while (model_.now() - begin < announced || !commands.empty()) {
    model_.advance(model_.now() + pollInterval);
    for (std::size_t left = notifications.size(); left > 0; --left) { // the dead program's child may write beside us
      const auto status = notifications.take();
      if (!status) break;
      if (status->kind != format::Kind::status || status->flow >= geometry_.flows ||
          !aborted.emplace(status->flow, status->generation).second)
        continue;
      format::Command command;
      command.opcode = format::Opcode::abort;
      command.flow = status->flow;
      command.generation = status->generation;
      commands.push(command);
    }
    notifications.release();
    commands.flush();
    if (model_.now() - begin > 2 * announced + commandTimeout) break; // the core does not answer: never wait for it
  }
  stopPort(model_, port);
}

} // namespace downbeat::nic
