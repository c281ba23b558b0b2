// What Swift needs of libwebsockets and cannot see by itself: macros, and structs with bit fields.
#ifndef TIMERSYNC_CLIBWEBSOCKETS_SHIM_H
#define TIMERSYNC_CLIBWEBSOCKETS_SHIM_H

#include <libwebsockets.h>
#include <string.h>
#include <sys/resource.h>

// Room that lws_write needs in front of the payload.
static const size_t shim_lws_pre = LWS_PRE;

static const int shim_log_levels = LLL_ERR | LLL_WARN;
static const int shim_log_error = LLL_ERR;

static const int shim_receive_bytes = 1024;

// Fills what belongs together and must outlive the context: `protocols` (two of them) and `retry`.
//
// lws neither listens nor reads HTTP here, it is handed sockets whose handshake has been checked; so
// no mounts, no TLS, no per-connection timers (`retry` is all zero), no header pool to speak of.
// `tx_packet_size` is large because lws cuts a frame into sends of that size.
//
// lws makes a table with a place for every descriptor that the process may have, and as Debian builds it walks all of
// that table whenever a socket comes: so it is made to see no more than `descriptors_max` of them. A limit of a million,
// usual in containers, would make a connection cost half a millisecond.
static inline struct lws_context *shim_create_context(struct lws_protocols *protocols,
                                                      struct lws_retry_bo *retry,
                                                      void **loops, lws_callback_function *callback,
                                                      const char *subprotocol, void *user,
                                                      long descriptors_max,
                                                      struct lws_context **finalized) {
  struct lws_context_creation_info info;
  struct rlimit limit = {0}, less;
  memset(protocols, 0, 2 * sizeof *protocols);
  memset(retry, 0, sizeof *retry);
  memset(&info, 0, sizeof info);

  protocols[0].name = subprotocol;
  protocols[0].callback = callback;
  protocols[0].per_session_data_size = sizeof(uint64_t);
  protocols[0].rx_buffer_size = shim_receive_bytes;
  protocols[0].tx_packet_size = 1 << 24;

  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  info.protocols = protocols;
  info.retry_and_idle_policy = retry;
  info.foreign_loops = loops;
  info.user = user;
  info.gid = -1;
  info.uid = -1;
  info.pcontext = finalized;
  info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_VALIDATE_UTF8 |
                 LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME |
                 LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS;

  int is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  int is_lowered = is_known && limit.rlim_cur > (rlim_t)descriptors_max;
  less = limit;
  less.rlim_cur = descriptors_max;
  is_lowered = is_lowered && setrlimit(RLIMIT_NOFILE, &less) == 0;
  struct lws_context *context = lws_create_context(&info);
  if (is_lowered) setrlimit(RLIMIT_NOFILE, &limit);
  return context;
}

// Drops a connection now; its closed callback comes before this returns.
static inline void shim_kill(struct lws *wsi) {
  lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

#endif
