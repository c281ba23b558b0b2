"""QR codes of links, read again by a decoder that is not ours."""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import zxingcpp

from timer_server import Server

SVG = "{http://www.w3.org/2000/svg}"
LINK = "https://timer.example:8443/?timer=Main%20stage&token=timersync_3q2-7wJhAAAAAAAAAAAAAAAAAAAAAAAAAAA"


def post(server, body: str, *options: str) -> tuple[int, dict[str, str], bytes]:
    """The answer to `curl` for a body: status, headers, body."""
    done = subprocess.run(
        ["curl", "-s", "-m", "30", "-i", "-X", "POST", *options, "--data-binary", "@-", f"{server.http}/api/qr"],
        input=body.encode(), capture_output=True, check=True)
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, rest


def qr(server, text: str) -> bytes:
    status, headers, svg = post(server, json.dumps({"text": text}, ensure_ascii=False))
    assert (status, headers["content-type"]) == (200, "image/svg+xml"), (status, svg[:300])
    return svg


def pixels(svg: bytes, scale: int = 4) -> tuple[memoryview, int]:
    """The picture as grey pixels, drawn from the SVG as it stands; and its side in modules."""
    root = ElementTree.fromstring(svg)
    left, top, side, height = map(int, root.attrib["viewBox"].split())
    assert (root.tag, left, top, side) == (SVG + "svg", 0, 0, height)
    assert root.attrib["shape-rendering"] == "crispEdges"
    ground, path = root
    assert ground.tag == SVG + "rect" and ground.attrib == {"width": str(side), "height": str(side), "fill": "#fff"}
    assert path.tag == SVG + "path" and path.attrib["fill"] == "#000"
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path.attrib["d"])
    assert "".join("M{} {}h{}v1h-{}z".format(*run) for run in runs) == path.attrib["d"]
    grey = bytearray(b"\xff") * (side * scale) ** 2
    for x, y, length, back in (map(int, run) for run in runs):
        assert length == back > 0
        assert 4 <= x and x + length <= side - 4 and 4 <= y < side - 4, "something is drawn in the quiet zone"
        for row in range(y * scale, (y + 1) * scale):
            start = row * side * scale + x * scale
            grey[start:start + length * scale] = bytes(length * scale)
    return memoryview(bytes(grey)).cast("B", shape=[side * scale, side * scale]), side


@pytest.mark.parametrize("text", [
    LINK, "x", "http://127.0.0.1:8080/", "https://timer.example/?timer=🍵&a=é", "0" * 1024, "Wi-Fi: \\ \" ' & < >",
    "".join(chr(33 + (index * 7 + index // 94) % 94) for index in range(1024)), "é" * 512])
def test_a_decoder_reads_what_was_written(shared_server, text):
    """The picture encodes the text, whatever the text is."""
    image, _ = pixels(qr(shared_server, text))

    [code] = zxingcpp.read_barcodes(image)

    assert code.format == zxingcpp.BarcodeFormat.QRCode
    assert code.bytes.decode() == text


def test_a_code_may_be_covered_in_part(shared_server):
    """Error correction M: a stain over a fifteenth of the code does no harm."""
    image, side = pixels(qr(shared_server, LINK))
    stained = bytearray(image.tobytes())
    width = side * 4
    for row in range(width // 2, width // 2 + width // 6):
        stained[row * width + width // 2:row * width + width // 2 + width // 6] = bytes([128]) * (width // 6)

    [code] = zxingcpp.read_barcodes(memoryview(bytes(stained)).cast("B", shape=[width, width]))

    assert code.bytes.decode() == LINK
    assert code.ec_level == "M"


def test_the_quiet_zone_is_four_modules(shared_server):
    """The quiet zone has four modules on each side, and no more."""
    image, side = pixels(qr(shared_server, "x"))

    # The smallest code has 21 modules.
    assert side == 21 + 2 * 4
    rows = [bytes(image.tobytes()[row * side * 4:(row + 1) * side * 4]) for row in range(side * 4)]
    dark = [row for row, line in enumerate(rows) if b"\0" in line]
    assert (dark[0], dark[-1]) == (16, side * 4 - 17)
    assert min(line.index(b"\0") for line in rows if b"\0" in line) == 16


def test_the_answer_is_private(shared_server):
    """The link may hold a token, so no cache may store the answer, and it has the headers of the API."""
    status, headers, _ = post(shared_server, json.dumps({"text": LINK}))

    assert status == 200
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("body", [
    "", "{}", "[]", "null", '"x"', '{"text":""}', '{"text":5}', '{"text":null}', '{"text":"x","size":5}',
    '{"text":"x","text":"y"}', '{"txt":"x"}', '{"text":"a\\nb"}', '{"text":"\\u0000"}', '{"text":"\\ud800"}',
    '{"text":"' + "x" * 1025 + '"}', '{"text":"' + "é" * 512 + 'x"}', '{"text":"x"'])
def test_bad_input_is_refused(shared_server, body):
    """The error says what would be right."""
    status, headers, answer = post(shared_server, body)

    reply = json.loads(answer)
    assert (status, reply["error"]["code"]) == (400, "badRequest"), reply
    assert headers["content-type"].startswith("application/json")
    assert reply["error"]["message"]


def test_too_long_a_body_is_refused(shared_server):
    """The body is refused like any other body that is too long."""
    assert post(shared_server, '{"text":"' + "x" * 20_000 + '"}')[0] == 413


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_it_goes_by_post_alone(shared_server, method):
    """GET is refused, since a link with a token does not belong into a URL."""
    done = subprocess.run(
        ["curl", "-s", "-m", "30", *(["-I"] if method == "HEAD" else ["-i", "-X", method]),
         f"{shared_server.http}/api/qr?text=x"], capture_output=True, check=True, text=True)

    assert done.stdout.split()[1] == "405"
    assert "allow: post" in done.stdout.lower()


@pytest.mark.parametrize("header", ["Origin: https://evil.example", "Host: evil.example"])
def test_other_sites_are_refused(shared_server, header):
    """The request follows the rules of every POST."""
    assert post(shared_server, '{"text":"x"}', "-H", header)[0] == 403


def test_a_text_is_in_no_log(tmp_path):
    """The text is not logged, even at the level `debug`."""
    server = Server(tmp_path / "data", "--log-level", "debug").start()
    try:
        assert post(server, json.dumps({"text": LINK}))[0] == 200
        assert post(server, json.dumps({"text": LINK + "\n"}))[0] == 400
        assert server.stop() == 0
    finally:
        server.kill()
    assert "timersync_3q2" not in server.log and "Main" not in server.log
