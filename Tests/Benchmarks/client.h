// One WebSocket client of a crowd. What it receives goes to `client_took`, which the crowd defines.
#ifndef BENCHMARKS_CLIENT_H
#define BENCHMARKS_CLIENT_H

#include <stddef.h>

enum client_state { CLIENT_CONNECTING, CLIENT_UPGRADING, CLIENT_OPEN, CLIENT_LEAVING, CLIENT_ENDED };

struct client {
  int socket, poll;
  enum client_state state;
  int awaited;            // messages until it is ready
  unsigned message_count; // since the crowd last set it to 0
  double asked_at;
  size_t held;
  unsigned char *input; // of an incomplete message
};

// The crowd's answers to what happens.
void client_opened(struct client *client);
void client_took(struct client *client, size_t count);
void client_ended(struct client *client);

// The bytes of a text frame to send, masked; to be freed.
struct text {
  size_t count;
  unsigned char *bytes;
};
struct text text_make(const char *words);

// Begins to connect to loopback; `path` is what the handshake asks for.
struct client *client_dial(int poll, int port, const char *path);
void client_event(struct client *client);
int client_send(struct client *client, const struct text *text);
// Says goodbye; the server's answer ends it.
void client_leave(struct client *client);

double now(void);

#endif
