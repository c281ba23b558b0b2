"""Headers that every answer of the transport has, and request headers that change the answer for a file."""

import contextlib

import pytest

from echo_server import ask, frame, handshake, read_answer, read_head, running

PAGE = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class TestAnswers:
    @pytest.mark.parametrize(
        "text, status",
        [
            ("GET /a% HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400), ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", 405), ("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
            ("POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nHost: x\r\nX: " + "y" * 17_000 + "\r\n\r\n", 431),
            ("BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
            ("GET /ws HTTP/1.1\r\nHost: x\r\n\r\n", 426), ("GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\n", 403),
            ("GET / HTTP/1.1\r\nHost: x\r\nIf-Match: \"other\"\r\n\r\n", 412),
            ("GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n", 304),
        ])
    def test_errors_carry_the_common_headers_too(self, text, status):
        with running() as server:
            got, headers, _ = ask(server, text)
            assert (got, headers["x-content-type-options"]) == (status, "nosniff")
            assert "date" in headers

    @pytest.mark.parametrize(
        "header, status",
        [
            ("If-Match: *", 200), ('If-Match: "a", "page1"', 200), ('If-Match: W/"page1"', 412), ('If-Match: "a"', 412),
            ('If-Match: "a"\r\nIf-None-Match: "page1"', 412), ('If-Match: "page1"\r\nIf-None-Match: "page1"', 304),
            ("If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT", 200),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 200),
            # RFC 9110 §14.2: a server may ignore Range, and then sends the whole file.
            ("Range: bytes=0-3", 200), ("Range: bytes=99-", 200), ("Range: nonsense", 200),
            ('Range: bytes=0-3\r\nIf-Range: "page1"', 200), ('Range: bytes=0-3\r\nIf-None-Match: "page1"', 304),
        ])
    def test_conditions_of_a_file(self, header, status):
        with running() as server, contextlib.closing(server.socket()) as plain:
            for method in ["GET", "HEAD"]:
                plain.sendall(f"{method} / HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
                answer = read_answer(plain, method)
                assert answer[0] == status and answer[1]["etag"] == '"page1"'
                assert "content-range" not in answer[1] and "accept-ranges" not in answer[1]
                if status == 200 and method == "GET":
                    assert answer[2] == b"<!doctype html><title>echo</title>"
            # The next request is read from the right byte.
            plain.sendall(PAGE.encode())
            assert read_answer(plain)[0] == 200

    @pytest.mark.parametrize(
        "path",
        [
            "/..%2f",
            "/..%2findex.html",
            "/..%2f..%2fetc%2fpasswd",
            "/%2e%2e%2findex.html",
            "/..%5cindex.html",
            "/.",
            "/./index.html",
            "/a/../index.html",
            "/%00",
            "/index.html%00",
            "/.git/config",
            "/etc",
            "//",
            "/index.html/.",
            "/%252e%252e/index.html",
            "/%c0%ae%c0%ae/index.html",
            "/..;/index.html",
            "/INDEX.HTML",
        ],
    )
    def test_no_spelling_leads_elsewhere(self, path):
        with running() as server:
            status, _, body = ask(server, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
            assert status in (400, 404) and b"<" not in body

    def test_nonsense_behind_a_head_request_is_answered_with_a_body(self):
        with running() as server, contextlib.closing(server.socket()) as plain:
            plain.sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read_answer(plain, "HEAD")[0] == 200
            plain.sendall(b"nonsense\r\n\r\n")
            status, _, body = read_answer(plain)
            assert status == 400 and body.startswith(b"The request is malformed")

    def test_a_length_that_lies_low_makes_the_rest_the_next_request(self):
        with running() as server, contextlib.closing(server.socket()) as plain:
            plain.sendall(b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabcd / HTTP/1.1\r\n\r\n")
            assert b"\nab\n" in read_answer(plain)[2]
            status, headers, _ = read_answer(plain)
            assert (status, headers["connection"]) == (400, "close")
            assert plain.recv(10) == b""

    def test_a_handshake_may_not_have_a_body(self):
        with running() as server, contextlib.closing(server.socket()) as plain:
            plain.sendall(handshake(Content_Length="5") + b"hello" + frame(1, b"hi"))
            assert read_head(plain).startswith((b"HTTP/1.1 101", b"HTTP/1.1 400"))
