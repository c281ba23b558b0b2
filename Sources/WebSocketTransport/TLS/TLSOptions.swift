/// The certificate with which the port speaks TLS, 1.2 and up.
public struct TLSOptions: Sendable, Equatable {
  /// A PEM file: the server's own certificate first, then those that lead to a root.
  public var certificatePath: String
  /// A PEM file with the private key of the first, not encrypted.
  public var keyPath: String

  public init(certificatePath: String, keyPath: String) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
  }
}
