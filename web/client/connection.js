// One WebSocket that reconnects by itself. It knows nothing of timers.

const CONNECT_WITHIN = 8; // seconds, like every time here
const RETRY_FIRST = 0.5;
const RETRY_MOST = 20;
const RETRY_AFTER_RESTART = 3;
const STABLE_AFTER = 5;

const POLICY_VIOLATION = 1008;
const FATAL_CODES = [1003, 1007, POLICY_VIOLATION, 1009]; // after these, another attempt would fail too

export class Connection {
  // options: `url`, `subprotocols`, `monotonic` (a clock), `onMessage(object)`, `onChange()` of `status` or `problem`,
  // and `onFailedAttempt()` when an attempt ended before the server's `hello`.
  constructor(options) {
    this.options = options;
    this.status = "connecting"; // · "online" · "waiting" for the next attempt · "refused" for good
    this.problem = null; // why it was refused, in words
    this.offlineSince = options.monotonic(); // null while online
    this.lastMessageAt = null;
    this.socket = null;
    this.attempts = 0;
    this.onlineSince = null;
    this.alarms = {};
  }

  open() {
    this.cancel("retry");
    this.setStatus("connecting", null);
    try {
      this.socket = new WebSocket(this.options.url, this.options.subprotocols);
    } catch (error) {
      this.stop("the browser does not allow the connection: " + error.message);
      return;
    }
    this.socket.onmessage = (event) => { this.receive(event); };
    this.socket.onclose = (event) => { this.reconnectLater(event); };
    this.expectAnswer(CONNECT_WITHIN);
  }

  // The server's `hello` has come. An open socket alone proves nothing: it may be a proxy's.
  markOnline() {
    this.onlineSince = this.options.monotonic();
    this.offlineSince = null;
    this.setStatus("online", null);
  }

  // Closes the connection for good.
  stop(problem) {
    this.closeSocket();
    this.offlineSince = this.options.monotonic();
    this.setStatus("refused", problem);
  }

  send(message, answerWithin) {
    if (this.socket !== null && this.socket.readyState === 1) {
      this.socket.send(JSON.stringify(message));
      this.expectAnswer(answerWithin);
    }
  }

  // The instant since which an answer is due; else null.
  get waitingSince() {
    return this.alarms.answer ? this.alarms.answer.setAt : null;
  }

  // Calls `ring(lateness)` once after `delay`, unless the connection is lost before.
  setAlarm(name, delay, ring) {
    const now = this.options.monotonic();
    const go = () => {
      delete this.alarms[name];
      ring(this.options.monotonic() - now - delay);
    };
    this.cancel(name);
    this.alarms[name] = { setAt: now, due: now + delay, id: setTimeout(go, delay * 1000) };
  }

  // — inside —

  receive(event) {
    this.cancel("answer");
    this.lastMessageAt = this.options.monotonic();
    const message = parseObject(event.data);
    if (message !== null) {
      this.options.onMessage(message);
    }
  }

  reconnectLater(close) {
    this.closeSocket();
    if (FATAL_CODES.includes(close.code)) {
      const words = close.code === POLICY_VIOLATION ?
        "the server refused this page (wrong token, or a page of another site)" :
        "the server can't read this page's messages";
      this.stop(words + (close.reason ? ": " + close.reason : ""));
      return;
    }
    const now = this.options.monotonic();
    const hadHello = this.onlineSince !== null;
    this.attempts = hadHello && now - this.onlineSince > STABLE_AFTER ? 0 : this.attempts + 1;
    this.onlineSince = null;
    this.offlineSince = this.offlineSince === null ? now : this.offlineSince;
    // A random delay, so that a crowd doesn't come back at once.
    this.setAlarm("retry", Math.random() * this.longestDelay(close.code), () => { this.open(); });
    this.setStatus("waiting", null);
    if (!hadHello) {
      this.options.onFailedAttempt();
    }
  }

  longestDelay(code) {
    return [1001, 1012].includes(code) ? RETRY_AFTER_RESTART : Math.min(RETRY_MOST, RETRY_FIRST * 2 ** this.attempts);
  }

  // A half-open link neither answers nor closes.
  expectAnswer(within) {
    const current = this.alarms.answer;
    const now = this.options.monotonic();
    if (!current || current.due > now + within) {
      this.setAlarm("answer", within, (lateness) => { this.missAnswer(lateness); });
      this.alarms.answer.setAt = current ? current.setAt : now;
    }
  }

  // A page that was frozen gets alarms before messages: a late alarm proves nothing.
  missAnswer(lateness) {
    if (lateness > 1) {
      this.expectAnswer(1);
    } else {
      this.reconnectLater({ code: 1006 });
    }
  }

  // Drops the socket: a half-open one may take minutes to close.
  closeSocket() {
    Object.keys(this.alarms).forEach((name) => { this.cancel(name); });
    if (this.socket !== null) {
      this.socket.onmessage = this.socket.onclose = null;
      this.socket.close();
      this.socket = null;
    }
  }

  cancel(name) {
    if (this.alarms[name]) {
      clearTimeout(this.alarms[name].id);
      delete this.alarms[name];
    }
  }

  setStatus(status, problem) {
    this.status = status;
    this.problem = problem;
    this.options.onChange();
  }
}

// Returns null for anything else.
function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch (error) {
    return null;
  }
}
