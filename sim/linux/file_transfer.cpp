// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "file_transfer.h"

FileSender::FileSender(downbeat_device *device, const Options &options)
    : Application(device), contents_(contentsOf(options.send)) {
  check(downbeat_connect(device_, options.peerIp, options.port, 0, nullptr, &shown_), "connect");
}

void FileSender::advance() {
  downbeat_info state;
  if (!check(downbeat_connection_info(device_, shown_, &state), "connection") || !check(state.error, "connection")) return;
  if (!send(shown_, contents_, position_)) return;
  if (!shutDown_) shutDown_ = check(downbeat_shutdown(device_, shown_), "shutdown");
  finished_ = state.peer_finished && (state.state == DOWNBEAT_TIME_WAIT || state.state == DOWNBEAT_CLOSED);
}

FileReceiver::FileReceiver(downbeat_device *device, const Options &options)
    : Application(device), port_(options.port), file_(options.receive, std::ios::binary) {
  if (!file_) failure_ = "cannot write " + options.receive;
  check(downbeat_listen(device_, port_, nullptr), "listen");
}

void FileReceiver::advance() {
  if (shown_ == 0 && downbeat_accept(device_, port_, &shown_) != DOWNBEAT_OK) return;
  downbeat_info state;
  if (!check(downbeat_connection_info(device_, shown_, &state), "connection") || !check(state.error, "connection")) return;
  if (!shutDown_) {
    std::string part;
    const bool ended = receive(shown_, part);
    file_.write(part.data(), static_cast<std::streamsize>(part.size()));
    if (!ended) return;
    file_.flush();
    shutDown_ = check(downbeat_shutdown(device_, shown_), "shutdown");
  }
  finished_ = state.state == DOWNBEAT_CLOSED;
}
