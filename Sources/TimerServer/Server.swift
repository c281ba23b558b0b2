import Foundation
import TimerCore
import TimerStorage
public import WebSocketTransport

/// The server, put together: the hub in the middle, the loops and the store at its sides.
///
/// Created, run and destroyed on one thread.
public final class Server {
  let loop: LoopGroup
  let store: any TimerStore
  private let mailbox: Mailbox<StoreEvent>
  private let tokens: TokenSource
  private let clock: ServerClock
  private var wallClock: WallClockMonitor
  let log: Log
  let refusals: RefusalLog
  let drainSeconds: Double
  private var hub: Hub
  private var backlog = StoreBacklog()

  /// Opens the data folder, reads every timer, and listens; from then on it handles the signals.
  public init(
    _ settings: ServerSettings, handling signals: ServerSignals? = nil
  ) throws(ServerFailure) {
    let log = Log(level: settings.logLevel)
    self.log = log
    let refusals = RefusalLog(log)
    self.refusals = refusals
    drainSeconds = Double(settings.network.drainSeconds)
    clock = ServerClock.system()
    wallClock = WallClockMonitor(clock)
    var isStarted = false
    // A server that fails to start writes its whole log.
    defer { if !isStarted { log.finish(within: Self.logSeconds) } }
    // Everything that may fail comes before the data folder, which may be created. Connections are not accepted before
    // `run`.
    var options = settings.transportOptions(log: log, refusals: refusals)
    options.staticFiles = try settings.page.staticFiles()
    tokens = try TokenSource(settings.tokenFile, isNamed: settings.tokensPath != nil, log: log)
    do { loop = try LoopGroup(options) } catch { throw .listening(error) }
    let mailbox = Mailbox<StoreEvent>()
    self.mailbox = mailbox
    let contents: StoreContents
    do {
      store = try settings.store(clock.anchor.start) { mailbox.post($0) }
      contents = try store.load()
    } catch {
      throw ServerFailure(error, settings.dataFolder)
    }
    for fault in contents.faults {
      log.write(fault.fault.isDamage ? .error : .warning, fault.line)
    }
    tokens.watchFolder()
    var turn = Turn(now: clock.now())
    hub = Hub(
      settings.hubOptions(tokens.first), clock: clock.anchor, contents: contents, &turn)
    do { try store.watch() } catch { log.write(.warning, "\(error)") }
    if !turn.actions.changes.isEmpty {
      // Countdowns that ended meanwhile are settled before the first client can look.
      store.submit(turn.actions.changes)
      store.finish()
    }
    for remark in contents.remarks { log.write(.warning, remark) }
    if !contents.quarantined.isEmpty {
      log.write(.warning, "in quarantine: \(contents.quarantined.listed)")
    }
    if let signals { handleSignals(signals) }
    if let count = tokens.first?.tokens.count { log.write(.info, "\(count) tokens are known") }
    log.write(.info, "\(contents.timers.count) timers loaded from \(settings.dataFolder)")
    isStarted = true
  }

  /// The port that was bound, also when port 0 was asked for.
  public var port: Int { loop.port }

  /// Serves until it is asked to stop, and returns how it ended. Everything that was answered is on the disk.
  @discardableResult
  public func run() -> ServerEnd {
    loop.listen(to: mailbox)
    tokens.attach(to: loop)
    // A first event, so that deadlines are armed before any client connects.
    mailbox.wake()
    loop.run { event, actions in handle(event, &actions) }
    return finish()
  }

  /// Logs the store's events that the loop has not handled.
  func logRemainingStoreEvents() {
    backlog.append(mailbox.drain())
    var turn = Turn(now: clock.now())
    while let event = backlog.popFirst() { hub.handle(.store(event), &turn) }
    for line in turn.actions.log { log.write(line) }
  }

  /// The one way of an event: it is handed to the hub, and what the hub wants done is handed on.
  private func handle(_ event: TransportEvent, _ actions: inout [TransportAction]) {
    var turn = Turn(now: clock.now())
    // Before the event, which is judged by the wall clock of now.
    if let offset = wallClock.change(from: hub.wallOffset, at: turn.now) {
      hub.handle(.wallOffset(offset), &turn)
    }
    handle(event, &turn)
    if hub.isMeasuringWork { hub.endWork(at: clock.now()) }
    store.submit(turn.actions.changes)
    for line in turn.actions.log { log.write(line) }
    for reason in turn.actions.refusals { refusals.add(reason) }
    actions += turn.actions.transport
  }

  private func handle(_ event: TransportEvent, _ turn: inout Turn) {
    switch event {
    case .woken: handleMailboxes(&turn)
    case .deadline:
      refusals.logDue(at: turn.now)
      hub.handle(.wake, &turn)
    case .reloadRequested:
      // A person who asks gets a line, even if the same was just logged.
      log.forgetRepeats()
      tokens.reload()
      hub.handle(.wake, &turn)
    default:
      // The metrics have the transport's counters too.
      if case .requested = event { hub.transport = loop.transportCounters }
      hub.handle(.transport(event), &turn)
    }
  }

  /// Hands on what other threads have posted.
  private func handleMailboxes(_ turn: inout Turn) {
    backlog.append(mailbox.drain())
    if let event = backlog.popFirst() {
      handle(event, &turn)
    } else {
      hub.handle(.wake, &turn)
    }
    // A stopping server handles all events at once.
    while hub.isStopping, let event = backlog.popFirst() { handle(event, &turn) }
    // The loop looks at its sockets and deadlines before the rest.
    if !backlog.isEmpty { mailbox.wake() }
    for tokens in tokens.drain() { hub.handle(.tokens(tokens), &turn) }
  }

  private func handle(_ event: StoreEvent, _ turn: inout Turn) {
    hub.handle(.store(event), &turn)
    // Later changes of the hub are for the new contents.
    if case .restored = event { store.acknowledgeReplacement() }
  }
}

extension [String] {
  /// The first twenty names, and the count of all when there are more.
  fileprivate var listed: String {
    let names = prefix(20).joined(separator: ", ")
    return count == 1 ? "1 file, \(names)" : "\(count) files, \(names)\(count > 20 ? ", …" : "")"
  }
}

/// Where the page comes from.
public enum Page: Sendable {
  /// Contents by file name, as they are built into a program.
  case files([String: [UInt8]])
  /// The path of a folder, which is read once, at the start.
  case folder(String)

  func staticFiles() throws(ServerFailure) -> [String: StaticFile] {
    let files: [String: StaticFile]
    switch self {
    case .files(let contents):
      files = contents.reduce(into: [:]) {
        $0["/" + $1.key] = StaticFile(name: $1.key, body: $1.value)
      }
    case .folder(let path):
      do { files = try StaticFile.folder(path) } catch {
        throw .page(path, error.localizedDescription)
      }
      guard files["/index.html"] != nil else {
        throw .page(path, "it has no index.html; leave --web out for the built-in page")
      }
    }
    return files.addingFileList()
  }
}

/// Why a server could not start, in one line for a person.
public enum ServerFailure: Error, CustomStringConvertible {
  case dataFolder(String, String)
  /// The data folder holds what a newer version has written.
  case newerData(String, String)
  case page(String, String)
  case tokens(String, String)
  case listening(TransportError)
  case signals(String)

  /// Why the store in this folder can't be used.
  init(_ failure: StoreFailure, _ folder: String) {
    switch failure {
    case .newer(let why): self = .newerData(folder, why)
    case .unusable(let why): self = .dataFolder(folder, why)
    }
  }

  public var description: String {
    switch self {
    case .dataFolder(let path, let why), .newerData(let path, let why):
      "the data folder \(path) can't be used: \(why)"
    case .tokens(let path, let why): "the token file \(path) can't be used: \(why)"
    case .signals(let why): "signals can't be handled: \(why)"
    case .page(let path, let why): "the web folder \(path) can't be used: \(why)"
    case .listening(.addressInUse(let address, let port)):
      "port \(port) on \(address) is in use by another program; choose another one with --port"
    case .listening(.addressNotAvailable(let address, _)):
      "\(address) is not an address of this machine; choose one with --listen"
    case .listening(.permissionDenied(let address, let port)):
      "no permission to listen on \(address) port \(port); ports from 1024 on need none"
    case .listening(.unusableCertificate(let why)): why
    case .listening(.failed(let why)): "can't listen: \(why)"
    }
  }
}

extension LogLevel {
  init(_ level: TransportLogLevel) {
    switch level {
    case .error: self = .error
    case .warning: self = .warning
    case .info: self = .info
    case .debug: self = .debug
    }
  }
}
