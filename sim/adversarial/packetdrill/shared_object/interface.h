// SPDX-License-Identifier: BSD-2-Clause-Patent
// The table of calls that Google's packetdrill reads from a shared object (--so_filename), in this order.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

struct PacketdrillInterface {
  void *stack; // the first argument of each call
  void (*free)(void *);
  int (*socket)(void *, int, int, int);
  int (*bind)(void *, int, const sockaddr *, socklen_t);
  int (*listen)(void *, int, int);
  int (*accept)(void *, int, sockaddr *, socklen_t *);
  int (*connect)(void *, int, const sockaddr *, socklen_t);
  ssize_t (*read)(void *, int, void *, size_t);
  ssize_t (*readv)(void *, int, const iovec *, int);
  ssize_t (*recv)(void *, int, void *, size_t, int);
  ssize_t (*recvfrom)(void *, int, void *, size_t, int, sockaddr *, socklen_t *);
  ssize_t (*recvmsg)(void *, int, msghdr *, int);
  ssize_t (*write)(void *, int, const void *, size_t);
  ssize_t (*writev)(void *, int, const iovec *, int);
  ssize_t (*send)(void *, int, const void *, size_t, int);
  ssize_t (*sendto)(void *, int, const void *, size_t, int, const sockaddr *, socklen_t);
  ssize_t (*sendmsg)(void *, int, const msghdr *, int);
  int (*fcntl)(void *, int, int, ...);
  int (*ioctl)(void *, int, unsigned long, ...);
  int (*close)(void *, int);
  int (*shutdown)(void *, int, int);
  int (*getsockopt)(void *, int, int, int, void *, socklen_t *);
  int (*setsockopt)(void *, int, int, int, const void *, socklen_t);
  int (*poll)(void *, pollfd *, nfds_t, int);
  int (*send_packet)(void *, const void *, size_t); // an IP packet to the stack
  int (*receive_packet)(void *, void *, size_t *, long long *); // the next that it sends; 0 bytes: none came
  int (*usleep)(void *, unsigned);
  int (*gettimeofday)(void *, timeval *, struct timezone *);
  int (*epoll_create)(void *, int);
  int (*epoll_ctl)(void *, int, int, int, epoll_event *);
  int (*epoll_wait)(void *, int, epoll_event *, int, int);
  int (*pipe)(void *, int[2]);
  ssize_t (*splice)(void *, int, loff_t *, int, loff_t *, size_t, unsigned);
};
