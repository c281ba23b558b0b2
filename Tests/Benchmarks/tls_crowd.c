// Clients of WebSockets over TLS on loopback, which count the bytes that come and read none of them.
//
//   tls_crowd PORT COUNT SECONDS PATH [plain]
//
// Each makes its handshakes by OpenSSL; from then on the bytes of the socket are counted as they are, since a client
// that decrypts needs as much of the machine as the server that is measured. Answers one line of JSON.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, INPUT_BYTES = 256 * 1024 };
// The crowd has settled by then.
static const double SETTLE_SECONDS = 1;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int dial(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (socket_ < 0 || setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) ||
      connect(socket_, (struct sockaddr *)&address, sizeof address))
    fail("connect");
  return socket_;
}

static int is_answered(const char *answer, int count) {
  return count >= 12 && !memcmp(answer, "HTTP/1.1 101", 12);
}

// Opens one WebSocket; its session lives as long as the program.
static int join(SSL_CTX *context, int port, const char *path) {
  char request[4096], answer[4096];
  int count = snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: b25lIG9mIG1hbnkgLi4uLg==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                       path, port);
  int socket_ = dial(port);
  if (context) {
    SSL *session = SSL_new(context);
    if (!session || !SSL_set_fd(session, socket_) || SSL_connect(session) != 1) fail("TLS");
    if (SSL_write(session, request, count) != count) fail("request");
    count = SSL_read(session, answer, sizeof answer);
  } else {
    if (send(socket_, request, count, MSG_NOSIGNAL) != count) fail("request");
    count = recv(socket_, answer, sizeof answer, 0);
  }
  if (!is_answered(answer, count)) fail("handshake");
  if (fcntl(socket_, F_SETFL, O_NONBLOCK)) fail("fcntl");
  return socket_;
}

// Reads for `seconds`, and returns the number of bytes.
static unsigned long count_bytes(int poll, double seconds, int *gone) {
  static char input[INPUT_BYTES];
  struct epoll_event events[EVENTS];
  unsigned long bytes = 0;
  for (double end = now() + seconds; now() < end;) {
    int count = epoll_wait(poll, events, EVENTS, 10);
    for (int place = 0; place < count; place++) {
      ssize_t size = recv(events[place].data.fd, input, sizeof input, 0);
      if (size > 0) bytes += size;
      if (size == 0) {
        close(events[place].data.fd);
        ++*gone;
      }
    }
  }
  return bytes;
}

int main(int argc, char **argv) {
  if (argc < 5) return fprintf(stderr, "usage: tls_crowd PORT COUNT SECONDS PATH [plain]\n"), 2;
  int port = atoi(argv[1]), clients = atoi(argv[2]), gone = 0;
  double seconds = atof(argv[3]), began = now();
  SSL_CTX *context = argc > 5 ? NULL : SSL_CTX_new(TLS_client_method());
  int poll = epoll_create1(EPOLL_CLOEXEC);
  for (int number = 0; number < clients; number++) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = join(context, port, argv[4])};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event)) fail("epoll");
  }
  double joined = now() - began;
  count_bytes(poll, SETTLE_SECONDS, &gone);
  printf("{\"joined\":%.3f}\n", joined);
  fflush(stdout);
  began = now();
  unsigned long bytes = count_bytes(poll, seconds, &gone);
  printf("{\"bytes\":%lu,\"seconds\":%.3f,\"gone\":%d}\n", bytes, now() - began, gone);
  return 0;
}
