/// The texts of `--help`.
enum HelpText {
  static let program = """
    timersync: shared timers, the same second on every screen

    usage:
      timersync serve [OPTIONS]    start the server ('timersync serve --help' lists the options)
      timersync token add | list | remove    manage access tokens ('timersync token --help')
      timersync --version          print the version
      timersync --help             print this
    """

  static let serve = """
    usage: timersync serve [OPTIONS]

    Serves the page on http://ADDRESS:PORT/, the WebSocket on /ws and the HTTP commands on /api/timers.

    listening
      --listen ADDRESS     numeric address, or localhost, which is 127.0.0.1 and ::1; may be repeated
                           (default 127.0.0.1)
      --port PORT          port on each address; 0 picks a free one and prints it (default 8080)
      --host NAME          additional host name of this server, as browsers send it, without port; may be
                           repeated
      --origin ORIGIN      another site whose pages may use the server, as in https://show.example; an app,
                           as in tauri://localhost; null or file:// for pages opened as files; may be
                           repeated

    threads
      --threads COUNT      event loops that share the connections, one thread each, 1 to 64; the timers
                           stay on the main loop; worth it only over TLS, with more clients than one
                           core can serve (default 1)

    TLS and proxies
      --tls-cert FILE      certificate chain in PEM; the port then accepts only TLS 1.2 and later, and
                           browsers that use a --host name are told to use only TLS (HSTS)
      --tls-key FILE       private key in PEM, without passphrase; SIGHUP reloads both files for new
                           connections; when they can't be read, the loaded ones stay in use
      --trusted-proxy ADDRESS  proxy, or range as in 10.0.0.0/8, whose X-Forwarded-For (or, without one,
                           Forwarded) names the client's address; the headers of others are ignored; may
                           be repeated

    access
      --anonymous ROLE     what visitors without a token may do: none, view or control. Default: control
                           on loopback while there are no tokens, none once there are some. Without
                           tokens and without this option, a start with another address than loopback or
                           with a trusted proxy is refused
      --tokens FILE        file of tokens, written by 'timersync token'; reloaded when it changes
                           (default FOLDER/.timersync/tokens.json of the data folder)
      --allow-get          lets GET /api/timers/NAME/COMMAND?…&token=TOKEN change a timer, for button
                           boxes that can only open a URL; prefetches of a browser change nothing
      --frame-ancestors SITE  sites that may embed the page in a frame: none, self, an origin as in
                           https://dash.example, or * for any; may be repeated (default none; OBS needs
                           no other value)

    stopping
      --drain SECONDS      time for connections to answer the close frame, 0 to 3600; the process ends at
                           most 5 s later, even when the disk doesn't answer (default 2)

    data, page and log
      --data FOLDER        folder of the timers, one JSON file each
                           (default $XDG_DATA_HOME/timersync, else ~/.local/share/timersync; an empty or
                           relative path in these variables is ignored)
      --web FOLDER         page of your own instead of the built-in one; read once, at the start
      --log-level LEVEL    error, warning, info or debug, on standard error (default info); events that
                           clients cause repeatedly are one line a minute, with a count

    limits
      --connections COUNT  open WebSockets; one more is closed with 1013 (default 16384)
      --connections-per-address COUNT  connections of one IPv4 address or IPv6 network (64 bits); one more
                           is closed with 1013, or answered with 503; loopback has no limit (default 512)
      --http-connections COUNT  open HTTP connections, unfinished handshakes included; one more closes the
                           one that the server has waited for longest (default 1024)
      --handshake-seconds COUNT  time for a complete request or handshake; after it 408, or the connection
                           is closed (default 10)
      --header-bytes COUNT  size of a request's head; above it 431 (default 16384)
      --message-bytes COUNT  size of a message over all its fragments, or of a body; above it 1009, or 413
                           (default 16384)
      --unread-bytes COUNT  unsent bytes of one connection, beside one larger message; at half of it the
                           server stops reading its requests, above it closes with 1013 (default 1048576)
      --unread-bytes-total COUNT  unsent bytes of all connections, HTTP included; above it the connection
                           with the most is closed with 1013 (default 50331648)
      --timers COUNT       number of timers (default 10000)
      --subscriptions COUNT  subscriptions of one connection (default 1000)
      --requests COUNT     requests a second on one connection, bursts of five times as many, and ten times
                           as many of one token or address; long lists, many names and QR codes count as
                           several; more are answered by rateLimited, and closed with 1008 if that goes on
                           (default 1000)
      --http-requests COUNT  HTTP requests a second from one IPv4 address or IPv6 network (64 bits), counted
                           in the same way; more are answered by 429 rateLimited (default 1000)
      --replies COUNT      unanswered requests of one connection; at the limit the server stops reading it
                           until half of them are answered (default 64)
      --pending COUNT      changes that wait for the disk; at the limit the server stops reading connections
                           that request more until half of them are stored (default 4096)
      --title-bytes COUNT  size of a title, at most 256; above it badRequest (default 256)
      --warnings COUNT     warnings of one timer, at most 16; above it badRequest (default 16)
    Fixed limits: 64 pauses of a run kept apart, 5 wrong tokens sent by authenticate, 20000 ticks of single
    timers a second on intervals that only one token or address subscribed to, 30 s in which a client reads
    none of its unsent bytes.

    signals
      SIGTERM, SIGINT      stop the server: all answered changes are on the disk, and clients are asked to
                           reconnect; a second one ends it at once, as does one that comes during the start
      SIGHUP               reloads the tokens and the certificate; what can't be read stays in use
      SIGQUIT              ends the server at once
      SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ  are ignored

    exit codes: 0 stopped as asked, 64 wrong options, or no folder for the timers, 65 data of a newer version,
    69 the server could not start and has left nothing behind, 74 stopped as asked, but the disk did not
    answer: answered changes are stored, unanswered ones may be
    """

  static let token = """
    usage: timersync token add --name NAME --role ROLE [OPTIONS]
           timersync token list [OPTIONS]
           timersync token remove NAME [OPTIONS]

    'add' creates a token and prints it once: only a digest is kept. 'list' lists the tokens. 'remove'
    revokes a token: a running server closes its connections within a second.

      --name NAME          name for the log and for 'remove'
      --role ROLE          view: subscribe, get, list; control: change timers too
      --timer PATTERN      timer that the token is limited to, or a prefix followed by *; may be repeated
                           (default all)
      --expires INSTANT    end of the token, as in 2026-12-31T18:00:00Z
      --expires-in LENGTH  lifetime of the token, as in 45s, 90m, 12h or 7d
      --data FOLDER        the server's data folder, as for 'timersync serve'
      --tokens FILE        the file of tokens, as for 'timersync serve'

    exit codes: 0 done, 64 wrong options, 65 the name is taken or unknown, 69 the file can't be used,
    74 standard output can't be written: a token that could not be printed is not kept
    """
}
