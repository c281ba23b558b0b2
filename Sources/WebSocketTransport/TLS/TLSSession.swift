import CLibssl

/// The server's side of one TLS connection: bytes in, bytes out, no socket.
@safe final class TLSSession {
  // All three owned by this object, the buffers by way of the session, which frees them. The loop's
  // thread.
  private let raw: OpaquePointer
  private let readBIO: OpaquePointer
  private let writeBIO: OpaquePointer

  /// The state of a session after input.
  enum Outcome {
    case open
    /// The peer will send nothing more.
    case closed
    case failed(String)
  }

  /// Takes over a session that was made by `SSL_new`; nil when there is no memory.
  init?(owning raw: OpaquePointer) {
    guard let readBIO = unsafe BIO_new(BIO_s_mem()) else {
      unsafe SSL_free(raw)
      return nil
    }
    guard let writeBIO = unsafe BIO_new(BIO_s_mem()) else {
      unsafe BIO_free(readBIO)
      unsafe SSL_free(raw)
      return nil
    }
    unsafe SSL_set_bio(raw, readBIO, writeBIO)
    unsafe SSL_set_accept_state(raw)
    unsafe (self.raw, self.readBIO, self.writeBIO) = (raw, readBIO, writeBIO)
  }

  deinit { unsafe SSL_free(raw) }

  /// True if the handshake is done.
  var isEstablished: Bool { unsafe SSL_is_init_finished(raw) == 1 }

  /// Decrypts received bytes and appends them to `text`.
  func decrypt(_ bytes: [UInt8], into text: inout [UInt8]) -> Outcome {
    // In slices, because OpenSSL's buffer keeps the size that it once had.
    var rest = bytes[...]
    while !rest.isEmpty {
      let slice = rest.prefix(4_096)
      rest = rest.dropFirst(4_096)
      // The bytes are lent for the call, which copies them.
      let taken = unsafe slice.withUnsafeBytes { bytes in
        unsafe BIO_write(readBIO, bytes.baseAddress, CInt(bytes.count))
      }
      guard taken == slice.count else { return .failed("no memory") }
      let outcome = read(into: &text)
      guard case .open = outcome else { return outcome }
    }
    return .open
  }

  private func read(into text: inout [UInt8]) -> Outcome {
    shim_clear_errors()
    // A record carries at most 16 KiB; the temporary is filled by OpenSSL and copied.
    return unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
      while true {
        let count = unsafe SSL_read(raw, buffer.baseAddress, CInt(buffer.count))
        if count > 0 {
          unsafe text.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
          continue
        }
        switch unsafe SSL_get_error(raw, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .open
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: return .failed(firstError())
        }
      }
    }
  }

  /// Encrypts bytes for the peer; false when the session is broken.
  func write(_ text: ArraySlice<UInt8>) -> Bool {
    shim_clear_errors()
    // The bytes are lent for the call; a buffer in memory takes all of them.
    return unsafe text.withUnsafeBytes { bytes in
      unsafe SSL_write(raw, bytes.baseAddress, CInt(bytes.count)) == CInt(bytes.count)
    }
  }

  /// Sends `close_notify`.
  func endWriting() {
    shim_clear_errors()
    if isEstablished { _ = unsafe SSL_shutdown(raw) }
    shim_clear_errors()
  }

  /// The number of encrypted bytes that wait to be sent to the peer.
  var pendingCount: Int { unsafe shim_pending(writeBIO) }

  /// Takes out what is to go to the peer.
  func drainPending() -> [UInt8] {
    let count = pendingCount
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      // Fills the new array, whose memory is lent for the call.
      filled = max(0, Int(unsafe BIO_read(writeBIO, buffer.baseAddress, CInt(count))))
    }
  }
}
