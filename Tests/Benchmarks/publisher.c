#define _GNU_SOURCE
#include "publisher.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNDER_WAY_MAX = 2 };

static int connection = -1, under_way;
static char *request;
static size_t request_count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

void publisher_open(int poll, int port, const char *path, int body_count, void *tag) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int yes = 1;
  connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address)) fail("publisher");
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, connection, &event)) fail("publisher");
  int head = asprintf(&request, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n", path, body_count);
  request_count = head + body_count;
  request = head < 0 ? NULL : realloc(request, request_count);
  if (!request) fail("publisher");
  memset(request + head, 'x', body_count);
}

int publisher_is_here(void) { return connection >= 0; }

int publisher_has_room(void) { return under_way < UNDER_WAY_MAX; }

void publisher_post(void) {
  if (send(connection, request, request_count, MSG_NOSIGNAL) != (ssize_t)request_count) fail("publisher");
  under_way++;
}

// The head of a response arrives whole, because it is short and few responses are under way.
int publisher_took(void) {
  char text[8192];
  ssize_t count = recv(connection, text, sizeof text - 1, 0);
  if (count <= 0) fail("publisher");
  text[count] = 0;
  int answers = 0;
  for (char *answer = text; (answer = strstr(answer, "HTTP/1.1 ")); answer += 9) {
    answers++;
    if (answer[9] == '2') continue;
    fprintf(stderr, "publisher: %s\n", answer);
    exit(1);
  }
  under_way -= answers;
  return answers;
}
