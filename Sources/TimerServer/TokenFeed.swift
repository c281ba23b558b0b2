import TimerStorage
import WebSocketTransport

/// The file of tokens on its way to the hub: read at the start, and again whenever it changes.
final class TokenFeed {
  private let mailbox = Mailbox<TokenBook?>()
  private let watch: TokenFileWatch
  /// What the file held at the start; nil when there was none.
  let first: TokenBook?

  /// A file that can't be read at the start is a failure; later, what it held before stays in force.
  init(_ file: TokenFile, log: Log) throws(ServerFailure) {
    let mailbox = mailbox
    do {
      // Watched first, so that no change falls in between.
      watch = try TokenFileWatch(file) { contents in
        do { mailbox.post(try Self.book(contents.get(), file.path)) } catch {
          log.write(.error, "\(error); the tokens stay as they were")
        }
      }
    } catch {
      throw .tokens(file.path, "\(error)")
    }
    let records: [TokenRecord]?
    do { records = try file.load() } catch { throw .tokens(file.path, "\(error)") }
    first = try Self.book(records, file.path)
  }

  /// Makes each change an event of this loop.
  func wake(_ loop: LoopGroup) {
    loop.listen(to: mailbox)
  }

  /// Takes what has changed since the last time; any thread.
  func drain() -> [TokenBook?] {
    mailbox.drain()
  }

  private static func book(
    _ records: [TokenRecord]?, _ path: String
  ) throws(ServerFailure) -> TokenBook? {
    guard let records else { return nil }
    do { return try TokenBook(records) } catch { throw .tokens(path, error.words) }
  }
}
