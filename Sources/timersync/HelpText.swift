/// What `--help` says.
enum HelpText {
  static let program = """
    timersync: shared timers, the same second on every screen

    usage:
      timersync serve [OPTIONS]    start the server ('timersync serve --help' lists the options)
      timersync --version          print the version
      timersync --help             print this
    """

  static let serve = """
    usage: timersync serve [OPTIONS]

    Serves the page on http://ADDRESS:PORT/, the WebSocket on /ws and the HTTP commands on /api/timers.
    Stops at SIGINT or SIGTERM, once all that was answered is on the disk.

    where to listen
      --listen ADDRESS     a numeric address, or localhost (default 127.0.0.1)
      --port PORT          0 picks a free one and prints it (default 8080)
      --anonymous ROLE     what visitors may do: view or control; has to be said for any address that is
                           not loopback (default there: control)
      --host NAME          a further name of this server, as browsers spell it; may be given again
      --origin ORIGIN      another site whose pages may use it, as in https://show.example; may be given
                           again

    what to keep and to show
      --data FOLDER        where the timers are kept, one JSON file each
                           (default $XDG_DATA_HOME/timersync, else ~/.local/share/timersync)
      --web FOLDER         a page of your own instead of the built-in one; read once, at the start
      --log-level LEVEL    error, warning, info or debug, on standard error (default info)

    what is too much
      --connections COUNT  WebSockets at once; one more is closed with 1013 (default 16384)
      --timers COUNT       timers that may be made (default 10000)
      --subscriptions COUNT  of one connection (default 1000)

    exit codes: 0 stopped as asked, 64 wrong options, 69 it could not start
    """
}
