import TimerStorage
import WebSocketTransport

/// The file of tokens on its way to the hub: read at the start, whenever it changes, and when somebody asks.
final class TokenSource {
  private let mailbox = Mailbox<TokenTable?>()
  private let watch: TokenFileWatch
  private let path: String
  private let log: Log
  private let post: @Sendable (TokenFileContents) -> Void
  /// What the file held at the start; nil when there was none.
  let first: TokenTable?

  /// A file that can't be read at the start is a failure; later, what it held before stays in force. `isNamed`: somebody
  /// said where it is, so its folder has to be there.
  init(_ file: TokenFile, isNamed: Bool, log: Log) throws(ServerFailure) {
    (path, self.log) = (file.path, log)
    let post: @Sendable (TokenFileContents) -> Void = { [mailbox] contents in
      do { mailbox.post(try Self.book(contents.get(), file.path)) } catch {
        log.write(.error, "\(error); the tokens stay as they were")
      }
    }
    self.post = post
    let records: [TokenRecord]?
    do throws(TokenFileError) {
      // Followed first, so that no change falls in between.
      watch = try Self.watch(file, isNamed: isNamed, changed: post)
      records = try watch.load()
    } catch {
      throw .tokens(file.path, error.explanation)
    }
    first = try Self.book(records, file.path)
  }

  private static func watch(
    _ file: TokenFile, isNamed: Bool,
    changed: @escaping @Sendable (TokenFileContents) -> Void
  ) throws(TokenFileError) -> TokenFileWatch {
    guard isNamed else { return TokenFileWatch(watchingLater: file, changed: changed) }
    do { return try TokenFileWatch(file, changed: changed) } catch { throw .disk(error) }
  }

  /// Has the system tell of changes, now that the file's folder is there; without it they are seen a little later.
  func watchFolder() {
    do throws(DiskError) { try watch.watchFolder() } catch {
      log.write(
        .warning,
        "the file of tokens is looked at twice a second, since the system does not tell of its changes: "
          + "\(error)\(error.advice)")
    }
  }

  /// Makes each change an event of this loop.
  func attach(to loop: LoopGroup) {
    loop.listen(to: mailbox)
  }

  /// Reads the file anew, whether it changed or not; the hub logs how many tokens there are. That it is gone or damaged
  /// is told once a second look finds so too.
  func reload() {
    watch.read { [path, log, post] contents in
      if case .success(nil) = contents { log.write(.info, "there is no file of tokens at \(path)") }
      post(contents)
    }
  }

  /// Takes what has changed since the last time; any thread.
  func drain() -> [TokenTable?] {
    mailbox.drain()
  }

  private static func book(
    _ records: [TokenRecord]?, _ path: String
  ) throws(ServerFailure) -> TokenTable? {
    guard let records else { return nil }
    do { return try TokenTable(records) } catch { throw .tokens(path, error.words) }
  }
}
