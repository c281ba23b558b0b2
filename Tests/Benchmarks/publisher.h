// Publishes over HTTP, for servers that send what is posted: at most two requests under way, on one connection.
#ifndef BENCHMARKS_PUBLISHER_H
#define BENCHMARKS_PUBLISHER_H

// Events of the publisher's socket carry `tag`.
void publisher_open(int poll, int port, const char *path, int body_count, void *tag);
int publisher_is_here(void);
int publisher_has_room(void);
void publisher_post(void);
// Call this at an event; it returns the number of answers that came.
int publisher_took(void);

#endif
