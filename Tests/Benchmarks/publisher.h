// Publishes over HTTP, for servers that are told so what to send: at most two requests under way, on one connection.
#ifndef BENCHMARKS_PUBLISHER_H
#define BENCHMARKS_PUBLISHER_H

// Events of its socket carry `tag`.
void publisher_open(int poll, int port, const char *path, int body_count, void *tag);
int publisher_is_here(void);
int publisher_has_room(void);
void publisher_post(void);
// Call it at an event; how many answers came.
int publisher_took(void);

#endif
