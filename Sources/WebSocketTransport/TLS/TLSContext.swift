import CLibssl

/// A certificate and its key, as OpenSSL uses them for handshakes.
@safe final class TLSContext {
  // Owned by this object; each session holds a count of its own, so that it outlives a reload. The
  // loop's thread.
  private let raw: OpaquePointer

  /// Reads the files.
  init(_ options: TLSOptions) throws(TransportError) {
    shim_clear_errors()
    guard let raw = unsafe shim_make_context() else {
      throw .unusableCertificate("OpenSSL did not start: \(firstError())")
    }
    unsafe self.raw = raw
    // Paths are lent for the calls.
    guard unsafe SSL_CTX_use_certificate_chain_file(raw, options.certificatePath) == 1 else {
      throw .unusableCertificate(
        "the TLS certificate \(options.certificatePath) can't be read: \(firstError())")
    }
    // Also compares it with the certificate, when it is of the same kind.
    if unsafe SSL_CTX_use_PrivateKey_file(raw, options.keyPath, SSL_FILETYPE_PEM) != 1 {
      let why = firstError()
      guard why == "key values mismatch" else {
        let words = Self.wordsOfLocked.contains(why) ? "it is encrypted with a passphrase" : why
        throw .unusableCertificate("the TLS key \(options.keyPath) can't be read: \(words)")
      }
    } else if unsafe SSL_CTX_check_private_key(raw) == 1 {
      return
    }
    throw .unusableCertificate(
      "the TLS key \(options.keyPath) does not belong to \(options.certificatePath)")
  }

  /// OpenSSL's errors for a missing passphrase.
  private static let wordsOfLocked = ["interrupted or cancelled", "bad password read"]

  deinit { unsafe SSL_CTX_free(raw) }

  /// Seconds until the certificate expires, negative from then on; nil if unknown.
  var secondsLeft: Int64? {
    var seconds: Int64 = 0
    // Fills the number lent for the call.
    return unsafe shim_seconds_left(raw, &seconds) == 1 ? seconds : nil
  }

  /// A server's side of one connection.
  func session() -> TLSSession? {
    shim_clear_errors()
    guard let session = unsafe SSL_new(raw) else { return nil }
    return unsafe TLSSession(owning: session)
  }
}

/// The text of OpenSSL's first error.
func firstError() -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
    guard let start = text.baseAddress else { return "" }
    // Writes a terminated string into this temporary.
    unsafe shim_first_error(start, text.count)
    return unsafe String(cString: start)
  }
}
