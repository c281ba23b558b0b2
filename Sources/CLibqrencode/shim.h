/// The one call of libqrencode that the server needs, in a shape that keeps nothing of what it is given.
///
/// The text is NUL-terminated and read for the time of the call, and the caller's bytes are filled for its time
/// and up to their number, which is what a Swift `String` and a Swift array give: that is why it is marked safe.
#pragma once

#include <qrencode.h>
#include <stddef.h>
#include <stdint.h>

#define QR_SAFE __attribute__((swift_attr("safe")))

/// Modules along a side of the largest code, of version 40.
static const int32_t qr_width_max = 177;

/// Fills `modules` row by row with 1 for each dark module, and tells how many there are along a side; 0 when the
/// text does not fit, or there is no memory.
///
/// Error correction M: up to 15 % of a code may be out of sight. The shortest mixture of modes is found.
QR_SAFE static inline int qr_encode(const char *_Nonnull text, unsigned char *_Nonnull modules,
                                    int capacity) {
  QRcode *code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1);
  if (code == NULL) return 0;
  int width = code->width;
  if (width * width > capacity) width = 0;
  for (int place = 0; place < width * width; place++) modules[place] = code->data[place] & 1;
  QRcode_free(code);
  return width;
}
