#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "websocket.h"

enum { INPUT_BYTES = 256 * 1024 };

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

struct text text_make(const char *words) {
  struct text text = {.bytes = malloc(FRAME_HEAD_MAX + strlen(words))};
  if (!text.bytes) exit(1);
  text.count = frame_write(text.bytes, OPCODE_TEXT, 1, words, strlen(words));
  return text;
}

int client_send(struct client *client, const struct text *text) {
  return send(client->socket, text->bytes, text->count, MSG_NOSIGNAL) == (ssize_t)text->count;
}

static void finish(struct client *client) {
  if (client->state == CLIENT_ENDED) return;
  close(client->socket);
  free(client->input);
  client->input = NULL;
  client_ended(client);
  client->state = CLIENT_ENDED;
}

// MARK: Opening

static const char *asked_path;

struct client *client_dial(int poll, int port, const char *path) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct client *client = calloc(1, sizeof *client);
  if (!client) exit(1);
  asked_path = path;
  client->poll = poll;
  client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int yes = 1;
  struct epoll_event event = {.events = EPOLLOUT, .data.ptr = client};
  if (client->socket < 0 || setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) ||
      (connect(client->socket, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) ||
      epoll_ctl(poll, EPOLL_CTL_ADD, client->socket, &event))
    finish(client);
  return client;
}

static void ask_upgrade(struct client *client) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(client->socket, SOL_SOCKET, SO_ERROR, &error, &size);
  struct sockaddr_in address;
  size = sizeof address;
  if (error || getpeername(client->socket, (struct sockaddr *)&address, &size)) return finish(client);
  char request[512];
  int count = snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: b25lIG9mIG1hbnkgLi4uLg==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                       asked_path, ntohs(address.sin_port));
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
  epoll_ctl(client->poll, EPOLL_CTL_MOD, client->socket, &event);
  client->state = CLIENT_UPGRADING;
  if (send(client->socket, request, count, MSG_NOSIGNAL) != count) finish(client);
}

// MARK: Receiving

// The bytes of the answer to the handshake at the front, 0 while it is incomplete.
static size_t take_upgrade(struct client *client, const unsigned char *bytes, size_t held) {
  const unsigned char *end = memmem(bytes, held, "\r\n\r\n", 4);
  if (!end) return 0;
  if (memcmp(bytes, "HTTP/1.1 101", 12)) {
    finish(client);
    return 0;
  }
  client->state = CLIENT_OPEN;
  client_opened(client);
  return end + 4 - bytes;
}

static void take_frame(struct client *client, const struct frame *frame, const unsigned char *payload) {
  if (frame->opcode == OPCODE_TEXT) {
    client_took(client, frame->count);
  } else if (frame->opcode == OPCODE_PING) {
    unsigned char pong[FRAME_HEAD_MAX + 125];
    size_t count = frame_write(pong, OPCODE_PONG, 1, payload, frame->count > 125 ? 125 : frame->count);
    if (send(client->socket, pong, count, MSG_NOSIGNAL) < 0) finish(client);
  } else if (frame->opcode == OPCODE_CLOSE) {
    finish(client);
  }
}

static void receive(struct client *client) {
  static unsigned char input[INPUT_BYTES];
  if (client->held) memcpy(input, client->input, client->held);
  ssize_t count = recv(client->socket, input + client->held, INPUT_BYTES - client->held, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return finish(client);
  size_t held = client->held + count, done = 0;
  if (client->state == CLIENT_UPGRADING) done = take_upgrade(client, input, held);
  struct frame frame;
  while ((client->state == CLIENT_OPEN || client->state == CLIENT_LEAVING) &&
         frame_read(&frame, input + done, held - done)) {
    take_frame(client, &frame, input + done + frame.head);
    done += frame.head + frame.count;
  }
  if (client->state == CLIENT_ENDED) return;
  client->held = held - done;
  if (client->held == INPUT_BYTES) return finish(client);
  if (!client->held) return;
  client->input = realloc(client->input, client->held);
  if (!client->input) exit(1);
  memcpy(client->input, input + done, client->held);
}

void client_event(struct client *client) {
  if (client->state == CLIENT_CONNECTING) ask_upgrade(client);
  else if (client->state != CLIENT_ENDED) receive(client);
}

void client_leave(struct client *client) {
  unsigned char goodbye[FRAME_HEAD_MAX + 2];
  size_t count = frame_write(goodbye, OPCODE_CLOSE, 1, "\x03\xe8", 2);
  client->state = CLIENT_LEAVING;
  if (send(client->socket, goodbye, count, MSG_NOSIGNAL) < 0) finish(client);
}
