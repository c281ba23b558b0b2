/// Why a service loop could not be made.
public enum TransportError: Error, Equatable, Sendable {
  /// Another socket listens there already.
  case addressInUse(address: String, port: Int)
  /// The address is no address of this machine, or no address at all.
  case addressNotAvailable(address: String, port: Int)
  /// This user may not listen there; ports under 1024 often need more rights.
  case permissionDenied(address: String, port: Int)
  /// The TLS certificate or its key can't be used, in words.
  case unusableCertificate(String)
  /// Anything else, in words.
  case failed(String)
}
