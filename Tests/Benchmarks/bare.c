// The limit: an epoll loop that does what a timer server has to do for its sockets, and nothing else.
//
//   bare HELLO_BYTES REPLY_BYTES FRAME_BYTES
//
// It prints its port. Each connection gets a real handshake and a hello. A message that holds "subscribe" gets a reply
// and a frame, one that holds "change" sends a frame to every subscriber and gets a reply, and any other gets only a
// reply. Standard input takes `go TICKS_PER_SECOND FRAMES_PER_TICK` and `stop`: each tick sends every subscriber
// FRAMES_PER_TICK frames, each by a send of its own.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "websocket.h"

enum { INPUT_BYTES = 20480, EVENTS = 512 };

struct connection {
  int socket, is_open;
  int place; // among the subscribers, or -1
  size_t held;
  unsigned char *input; // of an incomplete message
};

struct text {
  size_t count;
  unsigned char bytes[FRAME_HEAD_MAX + FRAME_PAYLOAD_MAX];
};

static struct text hello, reply, snapshot;
static struct connection **subscribers;
static int subscriber_count, subscriber_room, frames_per_tick, loop, timer;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void fill(struct text *text, size_t count, const char *begin) {
  static char payload[FRAME_PAYLOAD_MAX];
  if (count > FRAME_PAYLOAD_MAX) exit(64);
  memset(payload, 'x', sizeof payload);
  memcpy(payload, begin, strlen(begin) < count ? strlen(begin) : count);
  text->count = frame_write(text->bytes, OPCODE_TEXT, 0, payload, count);
}

// MARK: Connections

static void subscribe(struct connection *connection) {
  if (connection->place >= 0) return;
  if (subscriber_count == subscriber_room) {
    subscriber_room = subscriber_room ? subscriber_room * 2 : 1024;
    subscribers = realloc(subscribers, subscriber_room * sizeof *subscribers);
    if (!subscribers) fail("realloc");
  }
  connection->place = subscriber_count;
  subscribers[subscriber_count++] = connection;
}

static void drop(struct connection *connection) {
  if (connection->place >= 0) {
    subscribers[connection->place] = subscribers[--subscriber_count];
    subscribers[connection->place]->place = connection->place;
  }
  close(connection->socket);
  free(connection->input);
  free(connection);
}

// A full socket loses the frame, as it should lose a stale tick. A frame that was sent in part ends the connection.
static void say(struct connection *connection, const struct text *text) {
  ssize_t sent = send(connection->socket, text->bytes, text->count, MSG_NOSIGNAL);
  if (sent > 0 && (size_t)sent < text->count) shutdown(connection->socket, SHUT_RDWR);
}

static void say_to_all(int times) {
  for (int i = 0; i < subscriber_count; i++)
    for (int j = 0; j < times; j++) say(subscribers[i], &snapshot);
}

static void welcome(struct connection *connection, const char *head) {
  static const char name[] = "Sec-WebSocket-Key:", magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const char *key = strcasestr(head, name);
  if (!key) return;
  key += sizeof name - 1;
  key += strspn(key, " ");
  char joined[128];
  int count = snprintf(joined, sizeof joined, "%.*s%s", (int)strcspn(key, "\r "), key, magic);
  unsigned char digest[EVP_MAX_MD_SIZE], accept[64];
  unsigned digest_count;
  EVP_Digest(joined, count, digest, &digest_count, EVP_sha1(), NULL);
  EVP_EncodeBlock(accept, digest, digest_count);
  char answer[256];
  count = snprintf(answer, sizeof answer,
                   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Accept: %s\r\n\r\n",
                   accept);
  if (send(connection->socket, answer, count, MSG_NOSIGNAL) != count) return;
  say(connection, &hello);
}

static void obey(struct connection *connection, unsigned char *payload, size_t count) {
  const unsigned char *mask = payload - 4;
  for (size_t i = 0; i < count; i++) payload[i] ^= mask[i & 3];
  int is_subscription = memmem(payload, count, "subscribe", 9) != NULL;
  if (memmem(payload, count, "change", 6)) say_to_all(1);
  say(connection, &reply);
  if (!is_subscription) return;
  subscribe(connection);
  say(connection, &snapshot);
}

static void receive(struct connection *connection) {
  static unsigned char input[INPUT_BYTES + 1];
  if (connection->held) memcpy(input, connection->input, connection->held);
  ssize_t count = recv(connection->socket, input + connection->held, INPUT_BYTES - connection->held, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return drop(connection);
  size_t held = connection->held + count, done = 0;
  input[held] = 0;
  if (!connection->is_open) {
    unsigned char *end = memmem(input, held, "\r\n\r\n", 4);
    if (end) {
      connection->is_open = 1;
      done = end + 4 - input;
      welcome(connection, (char *)input);
    }
  }
  struct frame frame;
  while (connection->is_open && frame_read(&frame, input + done, held - done)) {
    if (frame.opcode == OPCODE_CLOSE) return drop(connection);
    if (frame.opcode == OPCODE_TEXT && frame.is_masked) obey(connection, input + done + frame.head, frame.count);
    done += frame.head + frame.count;
  }
  connection->held = held - done;
  if (!connection->held) return;
  connection->input = realloc(connection->input, connection->held);
  if (!connection->input) fail("realloc");
  memcpy(connection->input, input + done, connection->held);
}

static void accept_all(int listener) {
  for (;;) {
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), yes = 1;
    if (socket < 0) return;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct connection *connection = malloc(sizeof *connection);
    if (!connection) fail("malloc");
    *connection = (struct connection){.socket = socket, .place = -1};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
  }
}

// MARK: Ticks

static void set_ticks(double ticks_per_second) {
  struct itimerspec when = {0};
  if (ticks_per_second > 0) {
    when.it_interval.tv_sec = 1 / ticks_per_second;
    when.it_interval.tv_nsec = (1 / ticks_per_second - when.it_interval.tv_sec) * 1e9;
    when.it_value = when.it_interval;
  }
  if (timerfd_settime(timer, 0, &when, NULL)) fail("timerfd_settime");
}

// An end of the input is the end of the benchmark.
static void take_order(void) {
  static char line[256];
  static size_t held;
  ssize_t count = read(STDIN_FILENO, line + held, sizeof line - 1 - held);
  if (count <= 0) exit(0);
  line[held += count] = 0;
  if (line[held - 1] != '\n') return;
  held = 0;
  for (char *order = strtok(line, "\n"); order; order = strtok(NULL, "\n")) {
    double ticks = 0;
    frames_per_tick = 1;
    sscanf(order, "go %lf %d", &ticks, &frames_per_tick);
    set_ticks(ticks);
  }
}

static void tick(void) {
  uint64_t due;
  if (read(timer, &due, sizeof due) != sizeof due) return;
  while (due--) say_to_all(frames_per_tick);
}

// MARK: The loop

static int listen_somewhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 65535)) fail("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &size)) fail("getsockname");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static void watch(int file, int *tag) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
  if (epoll_ctl(loop, EPOLL_CTL_ADD, file, &event)) fail("epoll_ctl");
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "usage: bare HELLO_BYTES REPLY_BYTES FRAME_BYTES\n");
    return 64;
  }
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  fill(&hello, atoi(words[1]), "{\"event\":\"hello\"");
  fill(&reply, atoi(words[2]), "{\"reply\":1,\"ok\":true");
  fill(&snapshot, atoi(words[3]), "{\"event\":\"snapshot\"");
  int listener_tag, timer_tag, order_tag;
  loop = epoll_create1(EPOLL_CLOEXEC);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (loop < 0 || timer < 0) fail("epoll_create1");
  int listener = listen_somewhere();
  watch(listener, &listener_tag);
  watch(timer, &timer_tag);
  watch(STDIN_FILENO, &order_tag);
  for (;;) {
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(loop, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      void *tag = events[i].data.ptr;
      if (tag == &listener_tag) accept_all(listener);
      else if (tag == &timer_tag) tick();
      else if (tag == &order_tag) take_order();
      else receive(tag);
    }
  }
}
