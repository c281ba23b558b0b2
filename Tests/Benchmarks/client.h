// A WebSocket client of a crowd. The crowd defines `client_took`, which gets what the client receives.
#ifndef BENCHMARKS_CLIENT_H
#define BENCHMARKS_CLIENT_H

#include <stddef.h>

enum client_state { CLIENT_CONNECTING, CLIENT_UPGRADING, CLIENT_OPEN, CLIENT_LEAVING, CLIENT_ENDED };

struct client {
  int socket, poll;
  enum client_state state;
  int awaited;            // the messages that it waits for until it is ready
  unsigned message_count; // the messages since the crowd last set it to 0
  double asked_at;
  size_t held;
  unsigned char *input; // the bytes of an incomplete message
};

// The crowd defines these functions, which are called for a client's events.
void client_opened(struct client *client);
void client_took(struct client *client, size_t count);
void client_ended(struct client *client);

// The masked bytes of a text frame to send; the caller frees them.
struct text {
  size_t count;
  unsigned char *bytes;
};
struct text text_make(const char *words);

// Begins to connect to loopback; `path` is the target of the handshake.
struct client *client_dial(int poll, int port, const char *path);
void client_event(struct client *client);
int client_send(struct client *client, const struct text *text);
// Sends a close frame; the server's answer ends the client.
void client_leave(struct client *client);

double now(void);

#endif
