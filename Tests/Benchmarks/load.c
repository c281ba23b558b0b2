// Creates two loads, measured by a client that costs next to nothing.
//
//   load changes PORT CONNECTIONS SECONDS   changes a second: each connection adds a second to a timer of its own
//                                           and takes it away again, with one request under way
//   load pauses PORT CONNECTIONS SECONDS    the same by pause and resume: records with as many pauses as are kept
//   load bare FOLDER SECONDS                a bare loop of write, fsync, rename and fsync of the folder
//
// Each prints one JSON object: the number of changes, the seconds, and the time that one change took.
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
#include <time.h>
#include <unistd.h>

#include "samples.h"
#include "websocket.h"

enum { INPUT_BYTES = 32768, CONNECTIONS_MAX = 4096 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// MARK: Samples

static void report(double seconds) {
  if (!samples_count()) {
    fprintf(stderr, "nothing was done within %.1f s\n", seconds);
    exit(1);
  }
  printf("{\"count\": %zu, \"seconds\": %.6f, \"perSecond\": %.1f, \"p50\": %.6f, \"p99\": %.6f, "
         "\"p999\": %.6f, \"max\": %.6f}\n",
         samples_count(), seconds, samples_count() / seconds, samples_part(0.5), samples_part(0.99),
         samples_part(0.999), samples_part(1));
}

// MARK: A WebSocket that asks one thing at a time

struct client {
  int socket, number;
  int is_open;    // whether the handshake is over
  int sent_count; // the number of requests so far
  double sent_at;
  size_t held;
  unsigned char input[INPUT_BYTES];
};

static void send_all(int socket, const void *bytes, size_t count) {
  while (count) {
    ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    bytes = (const char *)bytes + sent;
    count -= sent;
  }
}

static void send_text(int socket, const char *text, size_t count) {
  unsigned char frame[512];
  send_all(socket, frame, frame_write(frame, OPCODE_TEXT, 1, text, count));
}

static int is_by_pauses;

static void ask(struct client *client) {
  char text[200];
  int count;
  if (client->sent_count == 0)
    count = snprintf(text, sizeof text,
                     "{\"id\":1,\"command\":\"start\",\"timer\":\"load%d\",\"duration\":86400,\"force\":true}",
                     client->number);
  else if (!is_by_pauses)
    count = snprintf(text, sizeof text,
                     "{\"id\":1,\"command\":\"addRemainingTime\",\"timer\":\"load%d\",\"seconds\":%d}",
                     client->number, client->sent_count % 2 ? 1 : -1);
  else
    count = snprintf(text, sizeof text, "{\"id\":1,\"command\":\"%s\",\"timer\":\"load%d\"}",
                     client->sent_count % 2 ? "pause" : "resume", client->number);
  client->sent_count++;
  client->sent_at = now();
  send_text(client->socket, text, count);
}

static void dial(struct client *client, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  client->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client->socket < 0) fail("socket");
  if (connect(client->socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
  int yes = 1;
  setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  char request[256];
  int count = snprintf(request, sizeof request,
                       "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: dGhpcyBpcyBhIG5vbmNlIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                       port);
  send_all(client->socket, request, count);
}

static int is_measured;

// Handles a whole message: a reply is counted and followed by the next request; the first request follows `hello`.
static void take(struct client *client, const char *text, size_t count) {
  if (count < 8 || memcmp(text, "{\"reply\"", 8)) {
    if (client->sent_count == 0) ask(client);
    return;
  }
  if (!memmem(text, count, "\"ok\":true", 9)) {
    fprintf(stderr, "refused: %.*s\n", (int)count, text);
    exit(1);
  }
  if (is_measured) samples_add(now() - client->sent_at);
  ask(client);
}

// Takes whole messages off the front of the received bytes, and returns the bytes that they had.
static size_t take_messages(struct client *client) {
  unsigned char *bytes = client->input;
  size_t done = 0;
  if (!client->is_open) {
    unsigned char *end = memmem(bytes, client->held, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(bytes, "HTTP/1.1 101", 12)) {
      fprintf(stderr, "no upgrade: %.*s\n", (int)client->held, bytes);
      exit(1);
    }
    client->is_open = 1;
    done = end + 4 - bytes;
  }
  struct frame frame;
  while (frame_read(&frame, bytes + done, client->held - done)) {
    if (frame.opcode == OPCODE_CLOSE) {
      fprintf(stderr, "the server closed the connection\n");
      exit(1);
    }
    if (frame.opcode == OPCODE_TEXT) take(client, (char *)bytes + done + frame.head, frame.count);
    done += frame.head + frame.count;
  }
  return done;
}

static void receive(struct client *client) {
  ssize_t count = recv(client->socket, client->input + client->held, INPUT_BYTES - client->held, 0);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    fprintf(stderr, "connection %d ended: %s\n", client->number, count ? strerror(errno) : "closed");
    exit(1);
  }
  client->held += count;
  size_t done = take_messages(client);
  client->held -= done;
  memmove(client->input, client->input + done, client->held);
}

static void changes(int port, int connections, double seconds) {
  if (connections < 1 || connections > CONNECTIONS_MAX) {
    fprintf(stderr, "1 to %d connections\n", CONNECTIONS_MAX);
    exit(64);
  }
  struct client *clients = calloc(connections, sizeof *clients);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  if (!clients || poll < 0) fail("epoll_create1");
  for (int i = 0; i < connections; i++) {
    clients[i].number = i;
    dial(&clients[i], port);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].socket, &event)) fail("epoll_ctl");
  }
  double begin = now() + 0.5, end = begin + seconds;
  for (double time = now(); time < end; time = now()) {
    is_measured = time >= begin;
    struct epoll_event events[256];
    int count = epoll_wait(poll, events, 256, 100);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    for (int i = 0; i < count; i++) receive(events[i].data.ptr);
  }
  report(seconds);
}

// MARK: The bare loop

static void bare(const char *folder, double seconds) {
  char contents[600];
  memset(contents, 'x', sizeof contents);
  if (chdir(folder)) fail(folder);
  int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) fail(folder);
  double begin = now(), end = begin + seconds;
  for (double time = begin; time < end; time = now()) {
    int file = open("bare.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) fail("open");
    if (write(file, contents, sizeof contents) != sizeof contents) fail("write");
    if (fsync(file)) fail("fsync");
    close(file);
    if (rename("bare.new", "bare")) fail("rename");
    if (fsync(directory)) fail("fsync");
    samples_add(now() - time);
  }
  double took = now() - begin;
  unlink("bare");
  report(took);
}

int main(int count, char **words) {
  is_by_pauses = count > 1 && !strcmp(words[1], "pauses");
  if (count == 5 && (is_by_pauses || !strcmp(words[1], "changes")))
    changes(atoi(words[2]), atoi(words[3]), atof(words[4]));
  else if (count == 4 && !strcmp(words[1], "bare"))
    bare(words[2], atof(words[3]));
  else {
    fprintf(stderr, "usage: load changes|pauses PORT CONNECTIONS SECONDS | load bare FOLDER SECONDS\n");
    return 64;
  }
  return 0;
}
