import Foundation
import TimerCore
import TimerStorage
import WebSocketTransport

/// The server's settings.
public struct ServerSettings: Sendable {
  /// Numeric addresses, or `localhost`.
  public var addresses = ["127.0.0.1"]
  /// On each address; 0 picks a free one.
  public var port = 8080
  public var network = NetworkSettings()
  public var dataFolder: String
  public var page = Page.files([:])
  public var logLevel = LogLevel.info
  public var access = AccessRules()
  /// The role of a visitor without a token; nil: full control while only this machine can connect and there are no
  /// tokens, nothing otherwise.
  public var anonymousRole: Role?
  /// nil: the one in the data folder.
  public var tokensPath: String?
  /// True if a GET with a token may change a timer.
  public var allowsGet = false
  /// Sites that may embed the page in theirs; none when empty.
  public var frameAncestors: [FrameAncestor] = []
  public var connectionsMax = 16_384
  public var timersMax = 10_000
  public var subscriptionsMax = 1_000
  /// Requests a second on one connection, and five times as many at once.
  public var requestsPerSecond = 1_000
  /// Requests a second by HTTP of one address, and five times as many at once.
  public var httpRequestsPerSecond = 1_000
  /// Replies that one connection may wait for before it is not read for a while.
  public var repliesMax = 64
  /// The number of changes that may wait for the disk before connections that request another one are paused.
  public var pendingMax = 4_096
  /// The longest title in bytes, and the most warnings of a timer; not above what the protocol allows.
  public var titleBytesMax = ServerSettings.titleBytesLimit
  public var warningsMax = ServerSettings.warningsLimit

  /// The most that the protocol allows.
  public static let titleBytesLimit = TimerLimits.titleBytesMax
  public static let warningsLimit = TimerLimits.warningsMax

  public init(dataFolder: String) {
    self.dataFolder = dataFolder
  }

  /// True if only this machine can reach the addresses.
  public var isLoopback: Bool { reachableAddress == nil }

  /// The first address that others can reach.
  public var reachableAddress: String? {
    addresses.first { $0 != "localhost" && $0 != "::1" && !$0.hasPrefix("127.") }
  }

  /// True if no other machine can connect, through a proxy either.
  public var isForThisMachineOnly: Bool {
    isLoopback && !network.isBehindProxy
  }

  var tokenFile: TokenFile {
    tokensPath.map { TokenFile(path: $0) } ?? TokenFile(dataFolder: dataFolder)
  }

  /// The store of the timers; `report` gets its events. The one place that chooses it.
  func store(
    _ clock: ClockReading, report: @escaping @Sendable (StoreEvent) -> Void
  ) throws(StoreFailure) -> any TimerStore {
    try FolderStore(path: dataFolder, clock: clock, report: report)
  }

  func hubOptions(_ tokens: TokenTable?) -> HubOptions {
    var options = HubOptions(epoch: UUID().uuidString.lowercased())
    options.access = access
    options.anonymousRole = anonymousRole
    // A configured token file requires tokens, even if it does not exist yet. A server that others can reach is open
    // only if that was configured.
    options.tokens = tokens ?? (tokensPath == nil && isForThisMachineOnly ? nil : TokenTable())
    options.allowsGet = allowsGet
    options.timersMax = timersMax
    options.subscriptionsMax = subscriptionsMax
    options.requests.perSecond = requestsPerSecond
    // A second's worth of requests: a low limit must not send a thousand errors first.
    options.requests.refusalsMax = min(1_000, max(100, requestsPerSecond))
    options.httpRequests.perSecond = httpRequestsPerSecond
    options.repliesMax = repliesMax
    options.pendingMax = pendingMax
    options.titleBytesMax = titleBytesMax
    options.warningsMax = warningsMax
    return options
  }

  func transportOptions(log: Log, refusals: RefusalLog) -> TransportOptions {
    var options = TransportOptions()
    options.addresses = addresses
    options.port = port
    options.connectionsMax = connectionsMax
    network.apply(to: &options)
    options.commonHeaders = SecurityHeaders(frameAncestors: frameAncestors).headers
    options.admission = { [access] in refusals.record(access.refusal(of: $0)) }
    options.fileAdmission = { [access] in refusals.record(access.refusal(ofFile: $0)) }
    options.serviceRefusal = { $0.response }
    options.refused = { refusals.add(.transport($0)) }
    options.answerHeaders = access.answerHeaders(isSecure: options.tls != nil)
    options.log = { level, text in log.write(LogLevel(level), text) }
    options.peerLog = { level, text in
      log.write(LogLine(level: LogLevel(level), text: text, isAboutPeers: true))
    }
    return options
  }
}
