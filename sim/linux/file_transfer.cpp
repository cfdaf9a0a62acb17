// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "file_transfer.h"

FileSender::FileSender(downbeat_device *device, const std::string &path, std::uint32_t peerIp, std::uint16_t port,
                       const downbeat_parameters *parameters)
    : Application(device), contents_(contentsOf(path)) {
  check(downbeat_sim_connect(device_, peerIp, port, 0, parameters, &shown_), "connect");
}

void FileSender::advance() {
  downbeat_sim_info state;
  if (!check(downbeat_sim_connection_info(device_, shown_, &state), "connection") || !check(state.error, "connection"))
    return;
  if (!send(shown_, contents_, position_)) return;
  if (!shutDown_) shutDown_ = check(downbeat_sim_shutdown(device_, shown_), "shutdown");
  finished_ = state.peer_finished && (state.state == DOWNBEAT_TIME_WAIT || state.state == DOWNBEAT_CLOSED);
}

FileReceiver::FileReceiver(downbeat_device *device, const std::string &path, std::uint16_t port)
    : Application(device), port_(port), file_(path, std::ios::binary) {
  if (!file_) failure_ = "cannot write " + path;
  check(downbeat_sim_listen(device_, port_, nullptr), "listen");
}

void FileReceiver::advance() {
  if (shown_ == 0 && downbeat_sim_accept(device_, port_, &shown_) != DOWNBEAT_OK) return;
  downbeat_sim_info state;
  if (!check(downbeat_sim_connection_info(device_, shown_, &state), "connection") || !check(state.error, "connection"))
    return;
  if (!shutDown_) {
    std::string part;
    const bool ended = receive(shown_, part);
    file_.write(part.data(), static_cast<std::streamsize>(part.size()));
    if (!ended) return;
    file_.flush();
    shutDown_ = check(downbeat_sim_shutdown(device_, shown_), "shutdown");
  }
  finished_ = state.state == DOWNBEAT_CLOSED;
}
