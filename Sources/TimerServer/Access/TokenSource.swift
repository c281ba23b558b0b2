import TimerStorage
import WebSocketTransport

/// Delivers the token file's contents to the hub: at the start, whenever the file changes, and on request.
final class TokenSource {
  private let mailbox = Mailbox<TokenTable?>()
  private let watch: TokenFileWatch
  private let path: String
  private let log: Log
  private let post: @Sendable (TokenFileContents) -> Void
  /// The tokens of the file at the start; nil when there was no file.
  let first: TokenTable?

  /// Throws if the file can't be read at the start; later, the previous contents stay in force. `isNamed` is true if
  /// the path was configured, so that its folder has to exist.
  init(_ file: TokenFile, isNamed: Bool, log: Log) throws(ServerFailure) {
    (path, self.log) = (file.path, log)
    let post: @Sendable (TokenFileContents) -> Void = { [mailbox] contents in
      do { mailbox.post(try Self.table(contents.get(), file.path)) } catch {
        log.write(.error, "\(error); the previous tokens stay valid")
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
    first = try Self.table(records, file.path)
  }

  private static func watch(
    _ file: TokenFile, isNamed: Bool,
    changed: @escaping @Sendable (TokenFileContents) -> Void
  ) throws(TokenFileError) -> TokenFileWatch {
    guard isNamed else { return TokenFileWatch(watchingLater: file, changed: changed) }
    do { return try TokenFileWatch(file, changed: changed) } catch { throw .disk(error) }
  }

  /// Watches the folder, now that it exists. Without a watch, changes are seen a little later.
  func watchFolder() {
    do throws(DiskError) { try watch.watchFolder() } catch {
      log.write(
        .warning,
        "the token file is checked twice a second, since the system gives no watch: "
          + "\(error)\(error.advice)")
    }
  }

  /// Makes each change an event of this loop.
  func attach(to loop: LoopGroup) {
    loop.listen(to: mailbox)
  }

  /// Reads the file again, whether it changed or not; the hub logs the number of tokens. A missing or damaged file is
  /// reported once a second check confirms it.
  func reload() {
    watch.read { [path, log, post] contents in
      if case .success(nil) = contents { log.write(.info, "there is no token file at \(path)") }
      post(contents)
    }
  }

  /// Takes what has changed since the last time; any thread.
  func drain() -> [TokenTable?] {
    mailbox.drain()
  }

  private static func table(
    _ records: [TokenRecord]?, _ path: String
  ) throws(ServerFailure) -> TokenTable? {
    guard let records else { return nil }
    do { return try TokenTable(records) } catch { throw .tokens(path, error.words) }
  }
}
