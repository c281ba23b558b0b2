// What Swift needs of OpenSSL and cannot see by itself: macros, and callbacks on static bytes.
#ifndef TIMERSYNC_CLIBSSL_SHIM_H
#define TIMERSYNC_CLIBSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// RFC 7301: HTTP/1.1 or 1.0, or the alert that says that nothing else is spoken here.
static inline int shim_select_protocol(SSL *ssl, const unsigned char **chosen,
                                       unsigned char *length, const unsigned char *offered,
                                       unsigned int offered_length, void *unused) {
  static const unsigned char spoken[] = "\x08http/1.1\x08http/1.0";
  unsigned char *match = NULL;
  (void)ssl;
  (void)unused;
  if (SSL_select_next_proto(&match, length, spoken, sizeof spoken - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

// An encrypted key is refused; OpenSSL would ask at the terminal.
static inline int shim_no_passphrase(char *room, int size, int is_writing, void *unused) {
  (void)room;
  (void)size;
  (void)is_writing;
  (void)unused;
  return -1;
}

// A context for servers: TLS 1.2 and up, forward secrecy and authenticated ciphers only (Mozilla's
// "intermediate" list), resumption by tickets alone, so that nothing is kept for those who are gone.
static inline SSL_CTX *shim_make_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, shim_select_protocol, NULL);
  SSL_CTX_set_default_passwd_cb(context, shim_no_passphrase);
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL") != 1) {
    SSL_CTX_free(context);
    return NULL;
  }
  return context;
}

// Forgets what earlier calls on this thread complained about.
static inline void shim_clear_errors(void) { ERR_clear_error(); }

// What the first complaint since then says, as the words of a static string or of errno.
static inline void shim_first_error(char *text, size_t room) {
  unsigned long code = ERR_get_error();
  const char *words = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                             : ERR_reason_error_string(code);
  snprintf(text, room, "%s", words ? words : "unknown error");
  ERR_clear_error();
}

static inline long shim_pending(BIO *bio) { return BIO_pending(bio); }

// Seconds until the context's certificate is out of date; negative when it is.
static inline int shim_seconds_left(SSL_CTX *context, int64_t *seconds) {
  X509 *certificate = SSL_CTX_get0_certificate(context);
  int days = 0, rest = 0;
  if (certificate == NULL ||
      ASN1_TIME_diff(&days, &rest, NULL, X509_get0_notAfter(certificate)) != 1) {
    return 0;
  }
  *seconds = (int64_t)days * 86400 + rest;
  return 1;
}

#endif
