// What Swift needs of libuv and of sockets and cannot see by itself.
#ifndef TIMERSYNC_CLIBUV_SHIM_H
#define TIMERSYNC_CLIBUV_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

// glibc declares it where all of GNU is wanted, and the modules of the toolchain that have the same headers in them don't.
#ifndef __USE_GNU
extern int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
#endif

// Milliseconds since the peer's last byte arrived in the kernel; -1 when nobody knows.
static inline int64_t shim_silence_milliseconds(int fd) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  return info.tcpi_last_data_recv;
}

// Bytes that the peer has acknowledged in all; -1 when nobody knows. The headers of C libraries end before this field of
// the kernel's `struct tcp_info` (Linux 4.1, include/uapi/linux/tcp.h), whose places are fixed for good.
static inline int64_t shim_acknowledged_bytes(int fd) {
  unsigned char info[128];
  socklen_t length = sizeof info;
  int64_t count;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < sizeof info) return -1;
  memcpy(&count, info + 120, sizeof count);
  return count;
}

// Holds back what is sent until it is let go, so that several sends make one segment.
static inline void shim_cork(int fd, int on) {
  setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

// Bytes that were there, 0 at the peer's end, -1 when there is nothing yet, -2 when the socket is broken.
static inline ssize_t shim_receive(int fd, void *bytes, size_t count) {
  ssize_t got;
  do {
    got = recv(fd, bytes, count, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got >= 0) return got;
  return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : -2;
}

// Makes the coming close throw away what the kernel still holds for the peer.
static inline void shim_abort_on_close(int fd) {
  struct linger at_once = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

// Bytes that the kernel took, 0 without room for any, -1 when the socket is broken.
static inline ssize_t shim_send(int fd, const void *bytes, size_t count) {
  ssize_t sent;
  do {
    sent = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)) return 0;
  return sent;
}

static inline void shim_shut_down(int fd) { shutdown(fd, SHUT_RDWR); }

// Ends what we say; what the peer still says can be read.
static inline void shim_shut_down_writing(int fd) { shutdown(fd, SHUT_WR); }

// Two connected stream sockets, the first of which keeps few unsent bytes; 0, or -1 without descriptors.
static inline int shim_socket_pair(int ends[2], int send_buffer_bytes) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
  return 0;
}

static inline void shim_close_descriptor(int fd) { close(fd); }

// fcntl is variadic.
static inline int shim_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

static inline void shim_ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }

// Signals that would end the process and ask for nothing that it does: SIGPIPE and SIGXFSZ come with an error of the
// call that caused them, and SIGUSR1 and SIGUSR2 are what a script for another server sends.
static inline void shim_ignore_stray_signals(void) {
  shim_ignore_broken_pipes();
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  signal(SIGUSR2, SIG_IGN);
}

static inline void shim_fill_steering_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGHUP);
}

// Keeps the signals that steer a process pending on this thread, and on those that it makes from then on.
static inline void shim_block_steering_signals(void) {
  sigset_t set;
  shim_fill_steering_signals(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// The next of the blocked signals; 0 when none came in so many nanoseconds, or a little sooner.
static inline int shim_wait_for_signal(uint64_t nanoseconds) {
  sigset_t set;
  struct timespec limit = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  shim_fill_steering_signals(&set);
  int number = sigtimedwait(&set, NULL, &limit);
  return number < 0 ? 0 : number;
}

// Ends the process and nothing else: no thread is waited for.
__attribute__((noreturn)) static inline void shim_exit_at_once(int code) { _exit(code); }

// Raises the soft limit of descriptors to `wanted`, at most to the hard one; answers the limit.
static inline int64_t shim_raise_descriptor_limit(int64_t wanted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  if (limit.rlim_cur < (rlim_t)wanted) {
    struct rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return (int64_t)limit.rlim_cur;
}

// RFC 9110 §5.6.7, as in "Sun, 06 Nov 1994 08:49:37 GMT"; writes at most 32 bytes.
static inline void shim_http_date(char *text) {
  static const char days[] = "SunMonTueWedThuFriSat";
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  snprintf(text, 32, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * parts.tm_wday,
           parts.tm_mday, months + 3 * parts.tm_mon, (parts.tm_year + 1900) % 10000, parts.tm_hour,
           parts.tm_min, parts.tm_sec);
}

// Every libuv handle begins with these fields, which is what these casts rely on.
static inline void shim_close(void *handle, uv_close_cb then) {
  if (!uv_is_closing((uv_handle_t *)handle)) uv_close((uv_handle_t *)handle, then);
}

static inline void shim_set_data(void *handle, void *data) {
  ((uv_handle_t *)handle)->data = data;
}

static inline void *shim_data(const void *handle) { return ((const uv_handle_t *)handle)->data; }

static inline int shim_read_start(uv_tcp_t *tcp, uv_alloc_cb room, uv_read_cb then) {
  return uv_read_start((uv_stream_t *)tcp, room, then);
}

// Bytes of writes under way that the kernel has not taken yet.
static inline size_t shim_unsent(const uv_tcp_t *tcp) {
  return uv_stream_get_write_queue_size((const uv_stream_t *)tcp);
}

static inline void shim_read_stop(uv_tcp_t *tcp) { uv_read_stop((uv_stream_t *)tcp); }

static inline int shim_descriptor(uv_tcp_t *tcp) {
  uv_os_fd_t fd = -1;
  return uv_fileno((uv_handle_t *)tcp, &fd) == 0 ? fd : -1;
}

static inline int shim_write(uv_write_t *request, uv_tcp_t *tcp, char *bytes, unsigned count,
                             uv_write_cb then) {
  uv_buf_t buffer = uv_buf_init(bytes, count);
  return uv_write(request, (uv_stream_t *)tcp, &buffer, 1, then);
}

static inline uv_tcp_t *shim_stream_of_write(uv_write_t *request) {
  return (uv_tcp_t *)request->handle;
}

static inline int shim_shutdown(uv_shutdown_t *request, uv_tcp_t *tcp, uv_shutdown_cb then) {
  return uv_shutdown(request, (uv_stream_t *)tcp, then);
}

// Lets other sockets of this user listen on a bound socket's port, if they ask for it when they bind.
static inline int shim_share_port(int fd) {
  int on = 1;
  return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
}

// Listens on a numeric address; a descriptor, or a negative error of libuv's. `joins` a port that a socket of this
// user shares, or `shares` its own with those that come later. By IPv6 alone, if `v6_only`, so that `::` leaves IPv4 to
// others.
//
// What is set here holds for every connection that is accepted: the bound of what the kernel keeps for a reader that
// does not read, and that small frames go out at once.
static inline int shim_listen(const char *address, int port, int joins, int shares, int v6_only,
                              int backlog, int send_buffer_bytes) {
  struct sockaddr_storage name;
  socklen_t size = sizeof(struct sockaddr_in);
  int on = 1;
  memset(&name, 0, sizeof name);
  if (uv_ip4_addr(address, port, (struct sockaddr_in *)&name) != 0) {
    if (uv_ip6_addr(address, port, (struct sockaddr_in6 *)&name) != 0) return UV_EINVAL;
    size = sizeof(struct sockaddr_in6);
  }
  int fd = socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return uv_translate_sys_error(errno);
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes) ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) ||
      (v6_only && name.ss_family == AF_INET6 &&
       setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on)) ||
      (joins && shim_share_port(fd)) ||
      bind(fd, (struct sockaddr *)&name, size) || (shares && shim_share_port(fd)) ||
      listen(fd, backlog)) {
    int status = uv_translate_sys_error(errno);
    close(fd);
    return status;
  }
  return fd;
}

static inline int shim_bound_port(int fd) {
  struct sockaddr_storage name;
  socklen_t length = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &length) != 0) return -1;
  if (name.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&name)->sin6_port);
  return ntohs(((struct sockaddr_in *)&name)->sin_port);
}

static const uint8_t shim_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// The next connection that waits, and its peer's address in 16 bytes, an IPv4 one as IPv6 maps it (RFC 4291 §2.5.5.2);
// -1 when there is none, -2 when there is nothing left to make one of.
static inline int shim_accept(int listener, uint8_t address[16]) {
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  int fd;
  do {
    fd = accept4(listener, (struct sockaddr *)&name, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd < 0) {
    return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM ? -2 : -1;
  }
  if (name.ss_family == AF_INET6) {
    memcpy(address, &((struct sockaddr_in6 *)&name)->sin6_addr, 16);
  } else {
    memcpy(address, shim_mapped, sizeof shim_mapped);
    memcpy(address + 12, &((struct sockaddr_in *)&name)->sin_addr, 4);
  }
  return fd;
}

// Reads a numeric address into such 16 bytes.
static inline int shim_parse_address(const char *text, uint8_t bytes[16]) {
  if (uv_inet_pton(AF_INET, text, bytes + 12) == 0) {
    memcpy(bytes, shim_mapped, sizeof shim_mapped);
    return 1;
  }
  return strchr(text, '%') == NULL && uv_inet_pton(AF_INET6, text, bytes) == 0;
}

// Writes such an address as text, at most 46 bytes.
static inline void shim_write_address(const uint8_t bytes[16], int is_v4, char *text, size_t room) {
  text[0] = 0;
  uv_inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? bytes + 12 : bytes, text, room);
}

#endif
