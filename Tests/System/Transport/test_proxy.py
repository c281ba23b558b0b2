"""The client's address for requests that come through proxies."""

import contextlib

import pytest

from echo_server import WITHIN, ask, closing, connect, counters, running


def address(server, *headers):
    """The address from which the server takes a request with these headers to come."""
    _, _, body = ask(server, "\r\n".join(["GET /api HTTP/1.1", "Host: x", *headers, "", ""]))
    return body.decode().splitlines()[-1]


@pytest.fixture(scope="module")
def server():
    with running(
            "--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "fd00::/8",
            "--trusted-proxy", "192.0.2.128/25") as server:
        yield server


@pytest.mark.parametrize(
    "headers, expected",
    [
        ([], "127.0.0.1"),
        (["X-Forwarded-For: 203.0.113.9"], "203.0.113.9"),
        # Everything to the left of the first untrusted address is only that client's claim.
        (["X-Forwarded-For: 127.0.0.1, 203.0.113.9"], "203.0.113.9"),
        (["X-Forwarded-For: 198.51.100.1, 203.0.113.9, 10.1.2.3"], "203.0.113.9"),
        (["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.9,10.1.2.3,10.9.9.9"], "203.0.113.9"),
        (["X-Forwarded-For: 203.0.113.9, 192.0.2.127"], "192.0.2.127"),
        (["X-Forwarded-For: 203.0.113.9, 192.0.2.128"], "203.0.113.9"),
        (["X-Forwarded-For: 10.0.0.1, 10.0.0.2"], "10.0.0.1"),
        (["X-Forwarded-For: 203.0.113.9:4711"], "203.0.113.9"),
        (["X-Forwarded-For: 2001:DB8:0::1"], "2001:db8::1"),
        (["X-Forwarded-For: [2001:db8::1]:4711"], "2001:db8::1"),
        (["X-Forwarded-For: ::ffff:203.0.113.9"], "203.0.113.9"),
        (["X-Forwarded-For: 2001:db8::1, fd12::1, ::ffff:10.0.0.1"], "2001:db8::1"),
        # An unknown address ends the search, because nothing to the left of it can be trusted.
        (["X-Forwarded-For: unknown"], "127.0.0.1"),
        (["X-Forwarded-For: 203.0.113.9, unknown, 10.0.0.1"], "10.0.0.1"),
        (["X-Forwarded-For: 203.0.113.9,"], "127.0.0.1"),
        (["X-Forwarded-For:"], "127.0.0.1"),
        (["X-Forwarded-For: 203.0.113"], "127.0.0.1"),
        (["X-Forwarded-For: 203.0.113.9%eth0"], "127.0.0.1"),
        (["X-Forwarded-For: 0203.0.113.9"], "127.0.0.1"),
        (["X-Forwarded-For: localhost"], "127.0.0.1"),
        (["X-Forwarded-For: [2001:db8::1"], "127.0.0.1"),
        # RFC 7239.
        (["Forwarded: for=203.0.113.9"], "203.0.113.9"),
        (["Forwarded: For=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
        (["Forwarded: proto=http;for=203.0.113.9;by=10.0.0.1, for=10.0.0.7"], "203.0.113.9"),
        (["Forwarded: for=198.51.100.1", "Forwarded: for=203.0.113.9 ; host=\"a,b;for=1.1.1.1\", for=10.0.0.7"],
         "203.0.113.9"),
        (["Forwarded: for=203.0.113.9, for=_hidden, for=10.0.0.7"], "10.0.0.7"),
        (["Forwarded: for=203.0.113.9, proto=http"], "127.0.0.1"),
        (["Forwarded: for=\"203.0.113.9"], "127.0.0.1"),
        (["Forwarded: for=unknown"], "127.0.0.1"),
        # A proxy that sets only one of the headers passes on the client's value of the other.
        (["Forwarded: for=198.51.100.1", "X-Forwarded-For: 203.0.113.9"], "203.0.113.9"),
    ])
def test_the_right_most_stranger_is_the_client(server, headers, expected):
    assert address(server, *headers) == expected


@pytest.mark.parametrize("header", ["X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9"])
@pytest.mark.parametrize("trusted", [[], ["127.0.0.2"], ["10.0.0.0/8"], ["::1"], ["128.0.0.0/1"]])
def test_the_headers_of_other_peers_are_ignored(header, trusted):
    with running(*(word for name in trusted for word in ("--trusted-proxy", name))) as server:
        assert address(server, header) == "127.0.0.1"


@pytest.mark.parametrize("trusted", ["127.0.0.1/32", "127.0.0.0/8", "0.0.0.0/0", "::ffff:127.0.0.1", "::/0"])
def test_ranges_hold_what_begins_alike(trusted):
    with running("--trusted-proxy", trusted) as server:
        assert address(server, "X-Forwarded-For: 2001:db8::1") == "2001:db8::1"


@pytest.mark.parametrize(
    "wrong",
    ["", "localhost", "127.0.0.1/33", "127.0.0.1/8", "127.0.0.1/", "127.0.0.1/-1", "::1/129", "127.1", "127.0.0.1/8/8"],
)
def test_what_is_no_range_is_not_taken_for_one(wrong):
    with running("--trusted-proxy", wrong) as server:
        assert address(server, "X-Forwarded-For: 203.0.113.9") == "127.0.0.1"


def test_a_handshake_has_its_clients_address(server):
    for headers, expected in [
        ({"X-Forwarded-For": "203.0.113.9, 10.0.0.1"}, "203.0.113.9"),
        ({"Forwarded": "for=203.0.113.9"}, "203.0.113.9"),
        ({}, "127.0.0.1"),
    ]:
        with connect(f"{server.url}?who=me", additional_headers=headers) as ws:
            assert ws.recv(timeout=WITHIN) == expected


def test_a_bound_is_the_clients_and_not_the_proxys():
    with running("--trusted-proxy", "127.0.0.1", "--connections-per-address", "2") as server:
        def come(client):
            return connect(server.url, additional_headers={"X-Forwarded-For": client})

        with contextlib.ExitStack() as stack:
            for client in ["203.0.113.1", "203.0.113.2", "2001:db8::1", "2001:db8:0:1::1"]:
                for _ in range(2):
                    ws = stack.enter_context(come(client))
                    ws.send("hi")
                    assert ws.recv(timeout=WITHIN) == "hi"
            # An IPv6 network counts as one address.
            for client in ["203.0.113.1", "2001:db8::ffff:1", "2001:db8:0:1:2::"]:
                with come(client) as ws:
                    assert closing(ws)[0] == 1013
            # The limit does not apply to the proxy's own address.
            for _ in range(5):
                ws = stack.enter_context(connect(server.url))
                ws.send("hi")
                assert ws.recv(timeout=WITHIN) == "hi"
        assert counters(server)["tooManyPerAddress"] == 3
