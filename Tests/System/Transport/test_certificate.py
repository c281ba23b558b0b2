"""Certificates: errors in them are reported, and new ones are used without losing a client."""

import contextlib
import shutil
import signal
import ssl

import pytest

from certificates import Certificate, openssl
from echo_server import WITHIN, Server, connect, eventually, read_answer
from secure_server import secure


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


class TestCertificate:
    def refused(self, path, key):
        with pytest.raises(RuntimeError) as caught:
            Server("--connections-max", "100", "--tls-cert", path, "--tls-key", key)
        line, = str(caught.value).splitlines()
        assert "unusableCertificate" in line
        return line.replace("\\'", "'")

    def test_one_that_is_not_there(self, certificate, tmp_path):
        missing = tmp_path / "missing.pem"
        assert f"certificate {missing} can't be read: No such file" in self.refused(missing, certificate.key)
        assert f"key {missing} can't be read: No such file" in self.refused(certificate.path, missing)

    def test_one_that_is_none(self, certificate, tmp_path):
        nonsense = tmp_path / "nonsense.pem"
        nonsense.write_text("nonsense")
        assert str(nonsense) in self.refused(nonsense, certificate.key)
        assert str(nonsense) in self.refused(certificate.path, nonsense)
        assert str(tmp_path) in self.refused(tmp_path, certificate.key)

    def test_a_key_of_another_one(self, certificate, tmp_path):
        other = Certificate(tmp_path, "other")
        assert f"{other.key} does not belong to {certificate.path}" in self.refused(certificate.path, other.key)
        rsa = Certificate(tmp_path, "rsa", algorithm="rsa:2048")
        assert "does not belong" in self.refused(certificate.path, rsa.key)

    def test_a_key_under_a_passphrase_is_not_asked_for(self, certificate, tmp_path):
        locked = tmp_path / "locked.key"
        openssl("pkey", "-in", certificate.key, "-aes128", "-passout", "pass:secret", "-out", locked)
        words = f"key {locked} can't be read: it is encrypted with a passphrase"
        assert words in self.refused(certificate.path, locked)

    def test_one_that_may_not_be_read(self, certificate, tmp_path):
        # Nobody can read a folder as a file; root can read every file, whatever its mode.
        assert f"{tmp_path}" in self.refused(certificate.path, tmp_path)


class TestReload:
    def served(self, server, context):
        with contextlib.closing(server.socket(context=context)) as stream:
            return dict(pair[0] for pair in stream.getpeercert()["subject"])["commonName"]

    def test_clients_stay_and_new_ones_see_the_new_certificate(self, tmp_path):
        first, second = Certificate(tmp_path, "first"), Certificate(tmp_path, "second")
        used = Certificate(tmp_path, "used")
        for mine, theirs in [(used.path, first.path), (used.key, first.key)]:
            shutil.copy(theirs, mine)
        with secure(used) as server:
            old, new = first.context(), second.context()
            assert self.served(server, old) == "first"
            with server.connect() as ws, contextlib.closing(server.socket()) as kept:
                shutil.copy(second.path, used.path)
                # The key does not belong to the new certificate yet, so the old pair stays in use.
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: len(self.told(server)) == 1)
                assert self.served(server, old) == "first"

                shutil.copy(second.key, used.key)
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: self.serves(server, new, "second"))
                with pytest.raises(ssl.SSLCertVerificationError):
                    self.served(server, old)
                ws.send("still here")
                assert ws.recv(timeout=WITHIN) == "still here"
                kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert read_answer(kept)[0] == 200

                used.path.unlink()
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: len(self.told(server)) == 3)
                assert self.served(server, new) == "second"
        told = self.told(server)
        assert ["does not belong" in told[0], "reloaded" in told[1], "No such file" in told[2]] == [True] * 3
        assert "stays in use" in told[0] and len(told) == 3

    def told(self, server):
        return [line for line in server.lines if "certificate" in line or "TLS key" in line]

    def serves(self, server, context, name):
        with contextlib.suppress(ssl.SSLError):
            return self.served(server, context) == name
        return False

    def test_without_a_certificate_the_signal_does_not_end_it(self):
        # A process inherits ignored signals, and these tests may run under nohup.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        server = Server()
        signal.signal(signal.SIGHUP, before)
        for _ in range(3):
            server.process.send_signal(signal.SIGHUP)
            with connect(server.url) as ws:
                ws.send("still here")
                assert ws.recv(timeout=WITHIN) == "still here"
        assert server.stop()[0] == 0
