import Foundation
import TimerCore
import TimerStorage
public import WebSocketTransport

/// The server, put together: the hub in the middle, the loops and the disk's thread at its sides.
///
/// Made, run and given up on one thread.
public final class Server {
  let loop: LoopGroup
  let writer: TimerWriter
  private let mailbox: Mailbox<DiskNote>
  private let tokens: TokenFeed
  private let clock: ServerClock
  private var wallClock: WallClockMonitor
  let log: Log
  let refusals: RefusalLog
  let drainSeconds: Double
  private var hub: Hub
  private var backlog = DiskBacklog()

  /// Opens the data folder, reads every timer, and listens; from then on it obeys the signals.
  public init(
    _ settings: ServerSettings, obeying signals: ServerSignals? = nil
  ) throws(ServerFailure) {
    let log = Log(level: settings.logLevel)
    self.log = log
    let refusals = RefusalLog(log)
    self.refusals = refusals
    drainSeconds = Double(settings.network.drainSeconds)
    clock = ServerClock.system()
    wallClock = WallClockMonitor(clock)
    var isStarted = false
    // A server that does not start says all that it had to say.
    defer { if !isStarted { log.finish(within: Self.logSeconds) } }
    // All that may fail comes before the data folder, which is made where there is none. Nobody is let in before `run`.
    var options = settings.transportOptions(log: log, refusals: refusals)
    options.staticFiles = try settings.page.staticFiles()
    tokens = try TokenFeed(settings.tokenFile, isNamed: settings.tokensPath != nil, log: log)
    do { loop = try LoopGroup(options) } catch { throw .listening(error) }
    var folder: TimerFolder
    let contents: TimerFolder.Contents
    do throws(FolderError) {
      folder = try TimerFolder(path: settings.dataFolder, clock: clock.anchor.start)
      contents = try folder.load()
    } catch {
      if case .newer = error { throw .newerData(settings.dataFolder, "\(error)") }
      throw .dataFolder(settings.dataFolder, error.whyNot)
    }
    for fault in contents.faults {
      log.write(fault.fault.isDamage ? .error : .warning, fault.line)
    }
    tokens.watchFolder()
    let mailbox = Mailbox<DiskNote>()
    self.mailbox = mailbox
    writer = TimerWriter(folder: folder) { mailbox.post($0) }
    var actions = HubActions()
    hub = Hub(
      settings.hubOptions(tokens.first), clock: clock.anchor, contents: contents, at: clock.now(),
      &actions)
    do { try writer.watch(settings.dataFolder) } catch {
      log.write(
        .warning,
        "the data folder is looked through each second, since the system does not tell who edits its files: "
          + "\(error)\(error.advice)")
    }
    if !actions.writes.isEmpty {
      // Countdowns that ended meanwhile are settled before the first client can look.
      writer.submit(actions.writes)
      writer.finish()
    }
    for remark in contents.remarks { log.write(.warning, remark) }
    if !contents.quarantined.isEmpty {
      log.write(.warning, "in quarantine: \(contents.quarantined.listed)")
    }
    if let signals { obey(signals) }
    if let count = tokens.first?.tokens.count { log.write(.info, "\(count) tokens are known") }
    log.write(.info, "\(contents.timers.count) timers loaded from \(settings.dataFolder)")
    isStarted = true
  }

  /// The port that is really listened on.
  public var port: Int { loop.port }

  /// Serves until it is asked to stop, and tells how it ended; what was answered is on the disk in any case.
  @discardableResult
  public func run() -> ServerEnd {
    loop.listen(to: mailbox)
    tokens.wake(loop)
    // A first event, so that deadlines are armed though nobody has come yet.
    mailbox.post(.stored([]))
    loop.run { event, actions in handle(event, &actions) }
    return finish()
  }

  /// Logs what the disk has told and the loop did not come to hear.
  func logLastNotes() {
    backlog.append(mailbox.drain())
    var wanted = HubActions()
    while let note = backlog.takeFirst() { hub.handle(.disk(note), at: clock.now(), &wanted) }
    for line in wanted.log { log.write(line) }
  }

  private func hear(_ note: DiskNote, at now: Instant, _ wanted: inout HubActions) {
    hub.handle(.disk(note), at: now, &wanted)
    // What the hub wants from here on is for the folder that it was just told of.
    if case .restored = note { writer.goOn() }
  }

  private func handle(_ event: TransportEvent, _ actions: inout [TransportAction]) {
    let now = clock.now()
    var wanted = HubActions()
    // Before the event, which is judged by the wall clock of now.
    if let offset = wallClock.change(from: hub.wallOffset, at: now) {
      hub.handle(.wallOffset(offset), at: now, &wanted)
    }
    if case .reloadRequested = event {
      // Whoever asks is answered, though the same was said just before.
      log.forgetRepeats()
      tokens.reload()
    }
    // The hub asks for a look at the wall clock each second.
    if case .deadline = event { refusals.tellDue(at: now) }
    if case .woken = event {
      backlog.append(mailbox.drain())
      // Also when there is none: what was due before the first event is armed by it.
      hear(backlog.takeFirst() ?? .stored([]), at: now, &wanted)
      // Who stops is in a hurry.
      while hub.isStopping, let note = backlog.takeFirst() {
        hear(note, at: now, &wanted)
      }
      // For the rest the loop comes back when it has looked at sockets and deadlines.
      if !backlog.isEmpty { mailbox.post(.stored([])) }
      for book in tokens.drain() { hub.handle(.tokens(book), at: now, &wanted) }
    } else {
      // Asked for the figures, it has those of the transport too.
      if case .requested = event { hub.transport = loop.transportCounters }
      hub.handle(.transport(event), at: now, &wanted)
    }
    if hub.isMeasuringWork { hub.endWork(at: clock.now()) }
    writer.submit(wanted.writes)
    for line in wanted.log { log.write(line) }
    for reason in wanted.refusals { refusals.add(reason) }
    actions += wanted.transport
  }
}

extension [String] {
  /// So many that a line holds them, and the count of all.
  fileprivate var listed: String {
    let names = prefix(20).joined(separator: ", ")
    return count == 1 ? "1 file, \(names)" : "\(count) files, \(names)\(count > 20 ? ", …" : "")"
  }
}

/// Where the page comes from.
public enum Page: Sendable {
  /// By file name, as built into a program.
  case files([String: [UInt8]])
  /// Read once, at the start.
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

  public var description: String {
    switch self {
    case .dataFolder(let path, let why), .newerData(let path, let why):
      "the data folder \(path) can't be used: \(why)"
    case .tokens(let path, let why): "the file of tokens \(path) can't be used: \(why)"
    case .signals(let why): "signals can't be taken: \(why)"
    case .page(let path, let why): "the web folder \(path) can't be used: \(why)"
    case .listening(.addressInUse(let address, let port)):
      "port \(port) on \(address) is in use by another program; give another one by --port"
    case .listening(.addressNotAvailable(let address, _)):
      "\(address) is no address of this machine; give one by --listen"
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
