// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "messages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace downbeat {

namespace {

constexpr std::size_t maxDescriptors = 8;
constexpr int wakesAtOnce = 64;
using Control = char[CMSG_SPACE(maxDescriptors * sizeof(int))];

} // namespace

bool sendMessage(int socket, const void *message, std::size_t length, std::span<const int> descriptors) {
  iovec part{const_cast<void *>(message), length};
  alignas(cmsghdr) Control control = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr *rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::ranges::copy(std::as_bytes(descriptors), reinterpret_cast<std::byte *>(CMSG_DATA(rights)));
  ssize_t sent;
  do sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(length);
}

bool receiveMessage(int socket, void *message, std::size_t length, std::vector<File> *descriptors) {
  iovec part{message, length};
  alignas(cmsghdr) Control control = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t count;
  do count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  for (cmsghdr *each = CMSG_FIRSTHDR(&header); count >= 0 && each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= each->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int passed;
      std::memcpy(&passed, CMSG_DATA(each) + at, sizeof passed);
      File owner(passed);
      if (descriptors != nullptr) descriptors->push_back(std::move(owner));
    }
  }
  return count == static_cast<ssize_t>(length);
}

bool sendWake(int socket) {
  const char wake = 0;
  // A full queue keeps its reader awake.
  return send(socket, &wake, sizeof wake, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof wake || errno == EAGAIN;
}

bool takeWakes(int socket) {
  for (int left = wakesAtOnce; left > 0; --left) {
    char wake;
    const ssize_t count = recv(socket, &wake, sizeof wake, MSG_DONTWAIT);
    if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  }
  return true;
}

} // namespace downbeat
