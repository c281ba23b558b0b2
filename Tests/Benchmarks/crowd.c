// A crowd of WebSocket clients on loopback, so cheap that the clients are not what is measured.
//
//   crowd PORT       then, on standard input, one command a line; each is answered by one line of JSON
//
//   processes PID…                              the processes whose CPU and memory are in the answers
//   open COUNT AT_ONCE READY PATH [MESSAGE]     opens COUNT more clients, AT_ONCE at a time; each sends MESSAGE after
//                                               its handshake and is ready after READY messages
//   tell READY MESSAGE                          all clients send MESSAGE and are ready after READY messages
//   watch SECONDS QUIET GAP [RATE]              counts messages; begins and ends when none came for QUIET seconds; a
//                                               GAP begins a new tick; RATE publishes that many a second meanwhile
//   ask COUNT SECONDS MESSAGE                   the first COUNT clients ask, each with one request under way
//   drive SECONDS AHEAD MESSAGE|MESSAGE         the first client sends both messages alternately, with AHEAD requests
//                                               under way; the other clients count
//   publisher PATH BYTES                        `drive` and RATE post a body of BYTES to PATH instead
//   leave COUNT                                 the COUNT clients that have been open longest send a close frame
//
// It never sleeps while a command runs, so that no server pays for waking it: it wants a core of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client.h"
#include "publisher.h"
#include "samples.h"
#include "usage.h"

enum { EVENTS = 512, LINE_BYTES = 32768, TICKS_MAX = 4096 };
static const double OPEN_SECONDS_MAX = 60, QUIET_SECONDS_MAX = 1.5;

static int poll, port;
static struct client **clients;
static int client_count, client_room, first_here, open_count, ready_count, gone_count;
static int settled_count; // clients that were ready once, or ended before; it never shrinks
static struct text greeting;
static int has_greeting;

// Counts since the last `begin_count`.
static unsigned long message_count, byte_count, receive_count, reply_count;
static double last_message_at;
static struct usage usage_before;

// The requests of clients that ask: the driver sends both alternately, other clients the first.
static struct text questions[2];
static unsigned long question_count;
static struct client *driver;

static struct tick {
  double first, last;
  unsigned long count;
} ticks[TICKS_MAX];
static int tick_count;
static double tick_gap;

// MARK: Events of a client

static void become_ready(struct client *client) {
  client->awaited = -1;
  ready_count++;
  settled_count++;
}

void client_opened(struct client *client) {
  open_count++;
  if (has_greeting) client_send(client, &greeting);
  if (client->awaited == 0) become_ready(client);
}

static void ask(struct client *client) {
  client->asked_at = now();
  client_send(client, &questions[question_count++ & (driver != NULL)]);
}

void client_took(struct client *client, size_t count) {
  if (client->awaited > 0 && --client->awaited == 0) become_ready(client);
  if (client->asked_at > 0) {
    reply_count++;
    if (client != driver) samples_add(now() - client->asked_at);
    ask(client);
    return;
  }
  message_count++;
  byte_count += count;
  client->message_count++;
}

void client_ended(struct client *client) {
  if (client->state == CLIENT_OPEN || client->state == CLIENT_LEAVING) open_count--;
  if (client->awaited < 0) ready_count--;
  else settled_count++;
  if (client->state != CLIENT_LEAVING) gone_count++;
}

// MARK: The loop

static void note_tick(double begin, double end, unsigned long count) {
  if (!tick_count || begin - last_message_at > tick_gap) {
    if (tick_count == TICKS_MAX) return;
    ticks[tick_count++] = (struct tick){.first = begin};
  }
  ticks[tick_count - 1].last = end;
  ticks[tick_count - 1].count += count;
}

static int has_command;

static void turn(int milliseconds) {
  struct epoll_event events[EVENTS];
  int count = epoll_wait(poll, events, EVENTS, milliseconds);
  if (count <= 0) return;
  double begin = now();
  unsigned long before = message_count;
  for (int i = 0; i < count; i++) {
    if (events[i].data.ptr == &has_command) has_command = 1;
    else if (events[i].data.ptr == &questions) reply_count += publisher_took();
    else client_event(events[i].data.ptr);
  }
  receive_count += count;
  if (message_count == before) return;
  double end = now();
  if (tick_gap > 0) note_tick(begin, end, message_count - before);
  last_message_at = end;
}

static void run_until(double time) {
  while (now() < time) turn(0);
}

static void wait_for_quiet(double seconds) {
  if (seconds <= 0) return;
  double begin = now();
  last_message_at = begin;
  for (double time = begin; time - last_message_at < seconds && time - begin < QUIET_SECONDS_MAX; time = now()) turn(0);
}

static void begin_count(void) {
  message_count = byte_count = receive_count = reply_count = 0;
  tick_count = 0;
  samples_clear();
  for (int i = 0; i < client_count; i++) clients[i]->message_count = 0;
  usage_before = usage_read();
}

static void tell_count(double seconds) {
  struct usage usage = usage_read();
  unsigned least = -1u, most = 0;
  for (int i = 0; i < client_count; i++) {
    if (clients[i]->state != CLIENT_OPEN || clients[i] == driver) continue;
    if (clients[i]->message_count < least) least = clients[i]->message_count;
    if (clients[i]->message_count > most) most = clients[i]->message_count;
  }
  printf("{\"seconds\":%.6f,\"messages\":%lu,\"bytes\":%lu,\"receives\":%lu,\"replies\":%lu,\"least\":%u,\"most\":%u,"
         "\"cpu\":%.9f,\"user\":%.3f,\"system\":%.3f,\"residentKiB\":%ld,\"open\":%d,\"ready\":%d,\"gone\":%d",
         seconds, message_count, byte_count, receive_count, reply_count, least == -1u ? 0 : least, most,
         usage.run - usage_before.run, usage.user - usage_before.user, usage.system - usage_before.system,
         usage.resident_kib, open_count, ready_count, gone_count);
  printf(",\"p50\":%.9f,\"p99\":%.9f,\"max\":%.9f,\"ticks\":[", samples_part(0.5), samples_part(0.99), samples_part(1));
  for (int i = 0; i < tick_count; i++)
    printf("%s{\"count\":%lu,\"spread\":%.6f}", i ? "," : "", ticks[i].count, ticks[i].last - ticks[i].first);
  printf("]}\n");
  fflush(stdout);
}

// MARK: Commands

static void set_text(struct text *text, const char *words) {
  free(text->bytes);
  *text = text_make(words);
}

static void open_more(int count, int at_once, int ready, const char *path, const char *message) {
  has_greeting = *message != 0;
  if (has_greeting) set_text(&greeting, message);
  begin_count();
  double begin = now();
  int settled_before = settled_count, begun = 0;
  for (;;) {
    int settled = settled_count - settled_before;
    if (settled >= count || now() - begin > OPEN_SECONDS_MAX) break;
    for (; begun < count && begun - settled < at_once; begun++) {
      if (client_count == client_room) {
        client_room = client_room ? client_room * 2 : 1024;
        clients = realloc(clients, client_room * sizeof *clients);
        if (!clients) exit(1);
      }
      struct client *client = clients[client_count++] = client_dial(poll, port, path);
      client->awaited = ready;
    }
    turn(0);
  }
  tell_count(now() - begin);
}

static void tell_all(int ready, const char *message) {
  struct text text = text_make(message);
  begin_count();
  double begin = now();
  ready_count = 0;
  for (int i = 0; i < client_count; i++) {
    if (clients[i]->state != CLIENT_OPEN) continue;
    clients[i]->awaited = ready;
    client_send(clients[i], &text);
    if (i % 64 == 0) turn(0);
  }
  while (ready_count < open_count && now() - begin < OPEN_SECONDS_MAX) turn(0);
  free(text.bytes);
  tell_count(now() - begin);
}

static void watch(double seconds, double quiet, double gap, double rate) {
  wait_for_quiet(quiet);
  tick_gap = gap;
  begin_count();
  double begin = now(), end = begin + seconds;
  if (rate > 0) {
    for (double due = begin; due < end; due += 1 / rate) {
      run_until(due);
      if (publisher_has_room()) publisher_post();
    }
  }
  run_until(end);
  wait_for_quiet(quiet);
  tell_count(now() - begin);
  tick_gap = 0;
}

// Waits for the answers under way, so that the next command begins without any.
static void stop_asking(double until) {
  for (int i = 0; i < client_count; i++) clients[i]->asked_at = 0;
  run_until(until + 0.05);
}

static void have_asked(int count, double seconds, const char *message) {
  set_text(&questions[0], message);
  for (int i = first_here; i < client_count && count > 0; i++) {
    if (clients[i]->state != CLIENT_OPEN) continue;
    ask(clients[i]);
    count--;
  }
  run_until(now() + 0.2);
  begin_count();
  double begin = now();
  run_until(begin + seconds);
  double end = now();
  tell_count(end - begin);
  stop_asking(end);
}

static void drive(double seconds, int ahead, char *messages) {
  if (publisher_is_here()) {
    begin_count();
    double begin = now();
    while (now() < begin + seconds) {
      if (publisher_has_room()) publisher_post();
      turn(0);
    }
    tell_count(now() - begin);
    return;
  }
  char *second = strchr(messages, '|');
  if (!second) exit(64);
  *second++ = 0;
  set_text(&questions[0], messages);
  set_text(&questions[1], second);
  driver = clients[0];
  for (int i = 0; i < ahead; i++) ask(driver);
  run_until(now() + 0.2);
  begin_count();
  double begin = now();
  run_until(begin + seconds);
  double end = now();
  tell_count(end - begin);
  stop_asking(end);
  driver = NULL;
}

static void let_leave(int count) {
  begin_count();
  for (; count > 0 && first_here < client_count; first_here++) {
    if (clients[first_here]->state != CLIENT_OPEN) continue;
    client_leave(clients[first_here]);
    count--;
  }
  run_until(now() + 0.05);
  tell_count(0);
}

static void obey(char *line) {
  int count, at_once, ready, length = 0;
  double seconds, quiet, gap, rate = 0;
  char path[256];
  if (!strncmp(line, "processes ", 10)) {
    usage_watch(line + 10);
    begin_count();
    tell_count(0);
  } else if (sscanf(line, "open %d %d %d %255s %n", &count, &at_once, &ready, path, &length) == 4 && length) {
    open_more(count, at_once, ready, path, line + length);
  } else if (sscanf(line, "tell %d %n", &ready, &length) == 1 && length) {
    tell_all(ready, line + length);
  } else if (sscanf(line, "watch %lf %lf %lf %lf", &seconds, &quiet, &gap, &rate) >= 3) {
    watch(seconds, quiet, gap, rate);
  } else if (sscanf(line, "ask %d %lf %n", &count, &seconds, &length) == 2 && length) {
    have_asked(count, seconds, line + length);
  } else if (sscanf(line, "drive %lf %d %n", &seconds, &count, &length) == 2) {
    drive(seconds, count, line + length);
  } else if (sscanf(line, "publisher %255s %d", path, &count) == 2) {
    publisher_open(poll, port, path, count, &questions);
    begin_count();
    tell_count(0);
  } else if (sscanf(line, "leave %d", &count) == 1) {
    let_leave(count);
  } else {
    fprintf(stderr, "crowd: no such command: %s\n", line);
    exit(64);
  }
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: crowd PORT\n");
    return 64;
  }
  port = atoi(words[1]);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &has_command};
  if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &event)) {
    perror("epoll_ctl");
    return 1;
  }
  setvbuf(stdin, NULL, _IONBF, 0);
  static char line[LINE_BYTES];
  for (;;) {
    turn(-1);
    if (!has_command) continue;
    has_command = 0;
    if (!fgets(line, sizeof line, stdin)) return 0;
    line[strcspn(line, "\n")] = 0;
    obey(line);
  }
}
