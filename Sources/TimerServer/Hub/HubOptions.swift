import TimerCore
import TimerProtocol

/// The hub's settings.
public struct HubOptions: Sendable {
  /// Names the program in `hello`, as in `timersync/1.0.0`.
  public var serverName = "timersync/\(Version.text)"
  /// New at each start.
  public var epoch: String
  /// The role of a visitor without a token; nil: full control until there are tokens, nothing from then on.
  public var anonymousRole: Role?
  /// nil when there is no file of tokens.
  var tokens: TokenTable?
  public var timersMax = 10_000
  public var subscriptionsMax = 1_000
  /// Requests a second on one connection.
  var requests = RequestBudget.Limits()
  /// Requests a second by HTTP of one address.
  var httpRequests = RequestBudget.Limits()
  /// Requests a second of one token, or of all visitors of one address, over all connections.
  var sharedRequests: RequestBudget.Limits { requests.times(10) }
  /// The limit on one address' handshakes and wrong tokens; high enough for thousands of screens that reconnect at
  /// once.
  var handshakes: RequestBudget.Limits {
    RequestBudget.Limits(perSecond: max(10_000, sharedRequests.perSecond))
  }
  /// Ticks of single timers a second on channels that one token, or the visitors of one address, have opened.
  var ticksMax = 20_000
  /// Replies that one connection may wait for; with so many it is not read until half of them are out.
  public var repliesMax = 64
  /// The number of changes that may wait for the disk in all. At the limit, connections that request another one are
  /// not read until half of them are durable.
  public var pendingMax = 4_096
  public var titleBytesMax = TimerLimits.titleBytesMax
  public var warningsMax = TimerLimits.warningsMax
  /// True if a GET may change a timer, for button boxes that can only open a URL.
  public var allowsGet = false
  /// How long a stopping server waits for its disk.
  var shutdownFlushTimeout: Seconds = 2
  /// The rules for hosts and origins.
  public var access = AccessRules()

  public init(epoch: String) {
    self.epoch = epoch
  }
}
