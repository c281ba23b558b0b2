// Opens many connections from one process that costs next to nothing, for hostile_load.py.
//
//   crowd ticks PORT COUNT SECONDS PATH     subscribers: each tick's delay is measured against the server's clock
//   crowd flood PORT COUNT SECONDS PATH     each sends requests as fast as the server takes them, reads the replies,
//                                           and reconnects when it is closed
//
// Prints `ready` when all are connected, waits for a line on its input, runs, and prints one JSON object. The
// connections come from addresses of their own, fifty each, from 127.0.16.1 on (ticks) or 127.0.32.1 on (flood).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../../Benchmarks/samples.h"

enum { INPUT_BYTES = 65536, CONNECTIONS_PER_ADDRESS = 50, FLOOD_BYTES = 32768 };

struct client {
  int socket, number;
  size_t held, sent;        // bytes of input, and those of the flood's round that were sent
  double back_at;           // when a closed connection is opened again; 0 while it is connected
  unsigned char input[INPUT_BYTES];
};

static struct client *clients;
static int count, port, poller;
static const char *path;
static unsigned base_address;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// MARK: Frames

// A client's frame with a mask of zeros, so that its bytes are those of the text.
static size_t frame(unsigned char *room, int opcode, const void *text, size_t size) {
  size_t head = 2;
  room[0] = 0x80 | opcode;
  if (size < 126) {
    room[1] = 0x80 | size;
  } else {
    room[1] = 0x80 | 126;
    room[2] = size >> 8;
    room[3] = size & 255;
    head = 4;
  }
  memset(room + head, 0, 4);
  memcpy(room + head + 4, text, size);
  return head + 4 + size;
}

// The length of the whole frame that begins at `bytes`; 0 when part of it is missing.
static size_t frame_size(const unsigned char *bytes, size_t held, size_t *head) {
  if (held < 2) return 0;
  size_t size = bytes[1] & 127;
  *head = 2;
  if (size == 126) {
    if (held < 4) return 0;
    size = bytes[2] << 8 | bytes[3];
    *head = 4;
  } else if (size == 127) {
    if (held < 10) return 0;
    size = 0;
    for (int place = 2; place < 10; place++) size = size << 8 | bytes[place];
    *head = 10;
  }
  return held < *head + size ? 0 : *head + size;
}

// MARK: Connecting

// Connects and sends the handshake. The answer is read with everything else. Returns -1 when refused for now.
static int dial(int number) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  struct sockaddr_in own = {.sin_family = AF_INET}, peer = {.sin_family = AF_INET, .sin_port = htons(port)};
  own.sin_addr.s_addr = htonl(base_address + number / CONNECTIONS_PER_ADDRESS);
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &on, sizeof on);
  if (bind(descriptor, (struct sockaddr *)&own, sizeof own) < 0) fail("bind");
  if (connect(descriptor, (struct sockaddr *)&peer, sizeof peer) < 0) {
    close(descriptor);
    return -1;
  }
  char request[1024];
  int size = snprintf(
    request, sizeof request,
    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", path, port);
  if (send(descriptor, request, size, MSG_NOSIGNAL) != size) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

// Reads the answer to the handshake, so that all are connected before the clock starts.
static int shake_hands(struct client *client) {
  while (!memmem(client->input, client->held, "\r\n\r\n", 4)) {
    ssize_t got = recv(client->socket, client->input + client->held, INPUT_BYTES - client->held, 0);
    if (got <= 0) return 0;
    client->held += got;
  }
  if (memcmp(client->input, "HTTP/1.1 101", 12)) {
    fprintf(stderr, "refused: %.*s\n", (int)client->held, client->input);
    return 0;
  }
  unsigned char *rest = (unsigned char *)memmem(client->input, client->held, "\r\n\r\n", 4) + 4;
  client->held -= rest - client->input;
  memmove(client->input, rest, client->held);
  return 1;
}

static void watch(struct client *client, unsigned events) {
  struct epoll_event event = {.events = events, .data.ptr = client};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, client->socket, &event) < 0) fail("epoll_ctl");
  fcntl(client->socket, F_SETFL, O_NONBLOCK);
}

static void connect_all(unsigned events) {
  for (int number = 0; number < count; number++) {
    struct client *client = &clients[number];
    client->number = number;
    client->socket = dial(number);
    if (client->socket < 0 || !shake_hands(client)) {
      fprintf(stderr, "connection %d of %d was not let in\n", number + 1, count);
      exit(1);
    }
    watch(client, events);
  }
}

// Reports that all are connected, and waits for the line that starts the run.
static void wait_for_start(void) {
  printf("ready\n");
  fflush(stdout);
  char line[16];
  if (!fgets(line, sizeof line, stdin)) exit(1);
}

// MARK: Ticks

static double clock_offset; // server clock minus ours

static double number_after(const char *text, size_t size, const char *name) {
  const char *place = memmem(text, size, name, strlen(name));
  return place ? atof(place + strlen(name)) : -1;
}

// Computes the server clock's offset from the exchange with the shortest round trip.
static void learn_clock(void) {
  int descriptor = dial(0);
  struct client *client = calloc(1, sizeof *client);
  if (!client) fail("calloc");
  client->socket = descriptor;
  if (descriptor < 0 || !shake_hands(client)) exit(1);
  double best = 1e9;
  for (int turn = 0; turn < 50; turn++) {
    unsigned char out[64];
    const char *text = "{\"command\":\"sync\",\"clientTime\":0}";
    double sent = now();
    size_t size = frame(out, 1, text, strlen(text));
    if (send(descriptor, out, size, MSG_NOSIGNAL) < 0) fail("send");
    for (;;) {
      ssize_t got = recv(descriptor, client->input, INPUT_BYTES, 0);
      if (got <= 0) fail("sync");
      double arrived = now();
      const char *input = (const char *)client->input;
      double received = number_after(input, got, "\"receivedAt\":");
      double answered = number_after(input, got, "\"sentAt\":");
      if (received < 0) continue;
      if (arrived - sent < best) {
        best = arrived - sent;
        clock_offset = ((received - sent) + (answered - arrived)) / 2;
      }
      break;
    }
  }
  close(descriptor);
  free(client);
}

static long lost;

static void hear(struct client *client) {
  for (;;) {
    ssize_t got = recv(client->socket, client->input + client->held, INPUT_BYTES - client->held, 0);
    if (got < 0 && errno == EAGAIN) return;
    double arrived = now();
    if (got <= 0) {
      lost++;
      close(client->socket);
      client->socket = -1;
      return;
    }
    client->held += got;
    size_t head, size, place = 0;
    while ((size = frame_size(client->input + place, client->held - place, &head))) {
      const char *text = (const char *)client->input + place + head;
      int opcode = client->input[place] & 15;
      if (opcode == 9) {
        unsigned char pong[256];
        send(client->socket, pong, frame(pong, 10, text, size - head), MSG_NOSIGNAL);
      } else if (memmem(text, size - head, "\"cause\":\"tick\"", 14)) {
        samples_add(arrived + clock_offset - number_after(text, size - head, "\"lastElapsedTimeCalculatedAt\":"));
      }
      place += size;
    }
    client->held -= place;
    memmove(client->input, client->input + place, client->held);
  }
}

static void run_ticks(double seconds) {
  learn_clock();
  connect_all(EPOLLIN);
  wait_for_start();
  struct epoll_event events[1024];
  // Ticks that came before the start are not counted.
  int ready;
  while ((ready = epoll_wait(poller, events, 1024, 0)) > 0)
    for (int index = 0; index < ready; index++) hear(events[index].data.ptr);
  samples_clear();
  double end = now() + seconds;
  for (double left; (left = end - now()) > 0;) {
    ready = epoll_wait(poller, events, 1024, (int)(left * 1000) + 1);
    for (int index = 0; index < ready; index++) hear(events[index].data.ptr);
  }
  printf("{\"ticks\": %zu, \"lost\": %ld, \"p50\": %.6f, \"p90\": %.6f, \"p99\": %.6f, \"p999\": %.6f, "
         "\"max\": %.6f}\n",
         samples_count(), lost, samples_part(0.5), samples_part(0.9), samples_part(0.99), samples_part(0.999),
         samples_part(1));
}

// MARK: Flood

static unsigned char round_bytes[FLOOD_BYTES];
static size_t round_size;
static int round_messages;

// Makes the round of requests that is sent again and again: cheap, costly and invalid ones.
static void lay_out_round(void) {
  static const char *texts[] = {
    "{\"id\":1,\"command\":\"sync\",\"clientTime\":1}",
    "{\"id\":2,\"command\":\"list\"}",
    "{\"id\":3,\"command\":\"start\",\"timer\":\"flood\",\"duration\":60,\"force\":true}",
    "{\"id\":4,\"command\":\"subscribe\",\"timers\":[\"flood\",\"main\"],\"interval\":0.1}",
    "{\"id\":5,\"command\":\"pause\",\"timer\":\"flood\"}",
    "{\"id\":6,\"command\":\"nonsense\"}",
    "[[[[[[[[[[[[[[[[[[[[[[",
  };
  char large[8192];
  memset(large, ' ', sizeof large);
  memcpy(large, "{\"id\":7,\"command\":\"get\"", 23);
  large[sizeof large - 1] = '}';
  for (size_t index = 0; index < sizeof texts / sizeof *texts; index++, round_messages++)
    round_size += frame(round_bytes + round_size, 1, texts[index], strlen(texts[index]));
  round_size += frame(round_bytes + round_size, 1, large, sizeof large);
  round_messages++;
}

static long long bytes_sent, bytes_read, thrown_out, not_let_in;

static void leave(struct client *client) {
  thrown_out++;
  close(client->socket);
  client->socket = -1;
  client->held = client->sent = 0;
  client->back_at = now() + 0.1;
}

static void press(struct client *client, unsigned events) {
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    ssize_t got = recv(client->socket, client->input, INPUT_BYTES, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return leave(client);
    if (got > 0) bytes_read += got;
  }
  if (events & EPOLLOUT) {
    ssize_t gone = send(
      client->socket, round_bytes + client->sent, round_size - client->sent, MSG_NOSIGNAL);
    if (gone < 0 && errno != EAGAIN) return leave(client);
    if (gone > 0) {
      bytes_sent += gone;
      client->sent = (client->sent + gone) % round_size;
    }
  }
}

static void come_back(void) {
  double instant = now();
  for (int number = 0; number < count; number++) {
    struct client *client = &clients[number];
    if (client->socket >= 0 || client->back_at > instant) continue;
    client->socket = dial(number);
    if (client->socket < 0) {
      not_let_in++;
      client->back_at = instant + 0.1;
      continue;
    }
    // The answer is skipped like all replies; requests follow the handshake at once.
    watch(client, EPOLLIN | EPOLLOUT);
  }
}

static void run_flood(double seconds) {
  lay_out_round();
  connect_all(EPOLLIN | EPOLLOUT);
  wait_for_start();
  struct epoll_event events[256];
  double end = now() + seconds, look_at = 0;
  for (double instant; (instant = now()) < end;) {
    int ready = epoll_wait(poller, events, 256, 10);
    for (int index = 0; index < ready; index++) press(events[index].data.ptr, events[index].events);
    if (instant < look_at) continue;
    come_back();
    look_at = instant + 0.05;
  }
  printf("{\"messagesSent\": %lld, \"bytesSent\": %lld, \"bytesRead\": %lld, \"thrownOut\": %lld, "
         "\"notLetIn\": %lld}\n",
         bytes_sent * round_messages / (long long)round_size, bytes_sent, bytes_read, thrown_out, not_let_in);
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "crowd ticks|flood PORT COUNT SECONDS PATH\n");
    return 2;
  }
  int is_flood = !strcmp(argv[1], "flood");
  port = atoi(argv[2]);
  count = atoi(argv[3]);
  path = argv[5];
  base_address = is_flood ? 0x7f002001 : 0x7f001001;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  clients = calloc(count, sizeof *clients);
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (!clients || poller < 0) fail("crowd");
  if (is_flood) run_flood(atof(argv[4])); else run_ticks(atof(argv[4]));
  return 0;
}
