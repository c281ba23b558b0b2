/// The two calls of OpenSSL's libcrypto that tokens need, in a shape that takes no pointer but a text's.
///
/// The text is NUL-terminated, read for the time of the call and not kept, which is what a Swift `String`
/// gives: that is why its reader is marked safe. Digests go by value.
#pragma once

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <string.h>

#define CRYPTO_SAFE __attribute__((swift_attr("safe")))

/// A SHA-256 digest, its bytes from the first on in four numbers from the highest place on.
struct crypto_digest {
  uint64_t first, second, third, fourth;
};

static inline uint64_t crypto_number(const unsigned char *_Nonnull bytes) {
  uint64_t number = 0;
  for (int place = 0; place < 8; place++) number = number << 8 | bytes[place];
  return number;
}

CRYPTO_SAFE static inline struct crypto_digest crypto_sha256(const char *_Nonnull text) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256((const unsigned char *)text, strlen(text), bytes);
  struct crypto_digest digest = {crypto_number(bytes), crypto_number(bytes + 8),
                                 crypto_number(bytes + 16), crypto_number(bytes + 24)};
  return digest;
}

/// Whether both are the same, in a time that does not tell where they differ.
static inline int crypto_is_same(struct crypto_digest one, struct crypto_digest other) {
  return CRYPTO_memcmp(&one, &other, sizeof one) == 0;
}
