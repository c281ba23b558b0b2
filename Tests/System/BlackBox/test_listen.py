"""The server's addresses: several of them, both loopbacks, and nothing left behind by a start that fails."""

import contextlib
import re
import signal
import socket
import subprocess
import tempfile

import pytest

from timer_server import Server, server_argv

WITHIN = 30
LINE = re.compile(r"timersync listening on (https?)://(\[[^\]]+\]|[^:]+):(\d+)\n")


def has_ipv6() -> bool:
    """Whether this machine has ::1."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind(("::1", 0))
        return True
    return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


@contextlib.contextmanager
def listening(folder, *options, launcher=()):
    """A server with these options: the addresses of its lines, and its port. Its log is read when it has ended."""
    addresses = []
    log = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(
        [*launcher, *server_argv("serve", "--port", "0", "--data", str(folder), "--anonymous", "view", *options)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        first = LINE.fullmatch(process.stdout.readline())
        assert first
        addresses.append(first[2])
        port = int(first[3])
        yield addresses, port, process
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.readlines()
        code = process.wait(WITHIN)
        log.seek(0)
        process.log = log.read()
        log.close()
        process.stdout.close()
        assert code == 0, process.log
        for line in rest:
            found = LINE.fullmatch(line)
            assert found and int(found[3]) == port, rest
            addresses.append(found[2])


def answers(address: str, port: int) -> bool:
    """Whether the server answers there."""
    try:
        with socket.create_connection((address, port), WITHIN) as one:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return b" 200 " in one.recv(4096)
    except ConnectionRefusedError:
        return False


@pytest.mark.parametrize("threads", ["1", "3"])
def test_each_address_is_listened_on_at_one_port(tmp_path, threads):
    """`--listen` may be given again: one line each, the first first."""
    with listening(
            tmp_path / "data", "--listen", "127.0.0.1", "--listen", "127.0.0.2", "--threads", threads) as (
            addresses, port, _):
        assert all(answers(address, port) for address in ("127.0.0.1", "127.0.0.2") for _ in range(4))
        assert not answers("127.0.0.3", port)
    assert addresses == ["127.0.0.1", "127.0.0.2"]


@needs_ipv6
def test_localhost_is_both_loopbacks(tmp_path):
    """The server answers on both loopback addresses, whichever a browser tries first."""
    with listening(tmp_path / "data", "--listen", "localhost") as (addresses, port, process):
        assert answers("127.0.0.1", port) and answers("::1", port)
        assert not answers("127.0.0.2", port)
    assert addresses == ["localhost"] and "IPv6" not in process.log


@needs_ipv6
def test_all_addresses_of_both_kinds_go_together(tmp_path):
    """`0.0.0.0` and `::` go together, and with addresses that they include."""
    options = [word for address in ("127.0.0.1", "0.0.0.0", "::", "::1") for word in ("--listen", address)]
    with listening(tmp_path / "data", *options) as (addresses, port, _):
        assert all(answers(address, port) for address in ("127.0.0.1", "127.0.0.2", "::1"))
    assert addresses == ["127.0.0.1", "0.0.0.0", "[::]", "[::1]"]


@needs_ipv6
def test_all_of_ipv6_alone_takes_ipv4_too(tmp_path):
    """A wildcard IPv6 address alone accepts IPv4 connections too."""
    with listening(tmp_path / "data", "--listen", "::") as (_, port, _):
        assert answers("127.0.0.1", port) and answers("::1", port)


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost"])
def test_an_address_given_twice_counts_once(tmp_path, address):
    """An address that is given twice is no error, and is printed once."""
    with listening(tmp_path / "data", "--listen", address, "--listen", address) as (addresses, port, _):
        assert answers("127.0.0.1", port)
    assert addresses == [address]


def test_a_machine_without_ipv6_has_one_loopback(tmp_path):
    """On such a machine `localhost` is IPv4 alone, which the log says once; an explicit `::1` is an error."""
    launcher = (
        "unshare", "-rn", "sh", "-c",
        'ip link set lo up; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 && exec "$@"', "sh")
    if subprocess.run([*launcher, "true"], capture_output=True).returncode:
        pytest.skip("no network of its own can be made here")
    with listening(
            tmp_path / "data", "--listen", "localhost", "--threads", "2", launcher=launcher) as (addresses, _, process):
        pass
    assert addresses == ["localhost"] and process.log.count("IPv6") == 1
    done = subprocess.run(
        [*launcher, *server_argv(
            "serve", "--port", "0", "--listen", "127.0.0.1", "--listen", "::1", "--data", str(tmp_path / "new"))],
        capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
    assert done.returncode == 69 and "::1 is not an address of this machine" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("taken", ["127.0.0.1", "127.0.0.2"])
def test_a_start_that_fails_for_one_address_leaves_nothing_behind(tmp_path, taken):
    """The failed start leaves neither a data folder nor a socket on the other address."""
    with socket.socket() as other:
        other.bind((taken, 0))
        other.listen()
        port = other.getsockname()[1]
        done = subprocess.run(
            server_argv(
                "serve", "--port", str(port), "--listen", "127.0.0.1", "--listen", "127.0.0.2", "--data",
                str(tmp_path / "data")),
            capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (69, "")
    assert f"port {port} on {taken} is in use" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("address", ["203.0.113.7", "timer.example", "::ffff:203.0.113.7"])
def test_an_address_of_another_machine_is_named(tmp_path, address):
    """The error names an address that is not this machine's, also when it is the second `--listen`."""
    done = subprocess.run(
        server_argv(
            "serve", "--port", "0", "--listen", "127.0.0.1", "--listen", address, "--anonymous", "view", "--data",
            str(tmp_path / "data")),
        capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (69, "")
    assert "203.0.113.7" in done.stderr or "timer.example" in done.stderr
    assert not (tmp_path / "data").exists()


def test_one_address_of_many_that_others_can_reach_is_enough_to_be_asked(tmp_path):
    """Without `--anonymous` and without tokens, such a server refuses to start."""
    done = subprocess.run(
        server_argv(
            "serve", "--port", "0", "--listen", "127.0.0.1", "--listen", "0.0.0.0", "--data", str(tmp_path / "data")),
        capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)
    assert done.returncode == 64 and "0.0.0.0 can be reached by others" in done.stderr


def test_a_server_comes_back_on_all_of_its_addresses(tmp_path):
    """A restart binds the same port again, even with connections of the previous process still open."""
    server = Server(tmp_path / "data", "--listen", "127.0.0.2", "--anonymous", "view").start()
    try:
        with socket.create_connection(("127.0.0.2", server.port), WITHIN):
            server.restart()
            assert answers("127.0.0.1", server.port) and answers("127.0.0.2", server.port)
    finally:
        assert server.stop() == 0
