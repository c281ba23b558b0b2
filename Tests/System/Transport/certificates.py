"""Certificates for tests, made by the `openssl` program."""

import ssl
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30)


class Certificate:
    """A certificate for this machine, and its key; signed with that key, or by an authority."""

    def __init__(self, folder, name="localhost", authority=None, algorithm="EC"):
        self.path, self.key, self.root = folder / f"{name}.pem", folder / f"{name}.key", folder / f"{name}.pem"
        kind = ["-pkeyopt", "ec_paramgen_curve:P-256"] if algorithm == "EC" else []
        signed = [] if authority is None else ["-CA", authority.path, "-CAkey", authority.key]
        ends = "CA:TRUE" if name == "authority" else "CA:FALSE"
        openssl(
            "req", "-x509", "-newkey", algorithm, *kind, "-nodes", "-keyout", self.key, "-out", self.path,
            "-days", "30", "-subj", f"/CN={name}", *signed, "-addext", f"basicConstraints=critical,{ends}",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        if authority is not None:
            self.root = authority.root
            self.path.write_text(self.path.read_text() + authority.path.read_text())

    def context(self, **settings):
        """A client's context that trusts only this certificate."""
        context = ssl.create_default_context(cafile=self.root)
        for name, value in settings.items():
            setattr(context, name, value)
        return context
