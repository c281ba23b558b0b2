// Frames of RFC 6455, for both ends of the benchmarks.
#ifndef BENCHMARKS_WEBSOCKET_H
#define BENCHMARKS_WEBSOCKET_H

#include <stddef.h>
#include <string.h>

enum { OPCODE_TEXT = 1, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10 };
enum { FRAME_HEAD_MAX = 14, FRAME_PAYLOAD_MAX = 65535 };

struct frame {
  int opcode, is_masked;
  size_t head, count; // bytes before the payload, and of it
};

// Reads the head of a frame, and returns whether the whole frame is within the first `held` bytes.
static inline int frame_read(struct frame *frame, const unsigned char *bytes, size_t held) {
  if (held < 2) return 0;
  frame->opcode = bytes[0] & 0x0f;
  frame->is_masked = bytes[1] >> 7;
  frame->count = bytes[1] & 0x7f;
  frame->head = 2;
  if (frame->count == 127) {
    if (held < 10) return 0;
    for (size_t i = frame->count = 0; i < 8; i++) frame->count = frame->count << 8 | bytes[2 + i];
    frame->head = 10;
  } else if (frame->count == 126) {
    if (held < 4) return 0;
    frame->count = (size_t)bytes[2] << 8 | bytes[3];
    frame->head = 4;
  }
  if (frame->is_masked) frame->head += 4;
  return held >= frame->head + frame->count;
}

// Writes a frame of at most FRAME_PAYLOAD_MAX, and returns its size. Only a client's frames are masked (§5.3).
static inline size_t frame_write(unsigned char *bytes, int opcode, int is_masked, const void *payload, size_t count) {
  static const unsigned char mask[4] = {0x9d, 0x14, 0xc6, 0x5b};
  size_t head = 0;
  bytes[head++] = 0x80 | opcode;
  bytes[head++] = (is_masked ? 0x80 : 0) | (count < 126 ? count : 126);
  if (count >= 126) {
    bytes[head++] = count >> 8;
    bytes[head++] = count & 0xff;
  }
  if (is_masked) {
    memcpy(bytes + head, mask, 4);
    head += 4;
  }
  memcpy(bytes + head, payload, count);
  for (size_t i = 0; is_masked && i < count; i++) bytes[head + i] ^= mask[i & 3];
  return head + count;
}

#endif
