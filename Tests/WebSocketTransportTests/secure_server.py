"""The echo program with a certificate."""

from websockets.sync.client import connect

from echo_server import Server, running


class SecureServer(Server):
    """The echo program with a certificate; its sockets speak TLS."""

    def __init__(self, certificate, *arguments):
        self.certificate = certificate
        self.context = certificate.context()
        super().__init__(
            "--connections-max", "1000", "--tls-cert", certificate.path, "--tls-key", certificate.key, *arguments)

    @property
    def url(self):
        return f"wss://localhost:{self.port}/ws"

    def plain_socket(self):
        return super().socket()

    def socket(self, receive_buffer=None, context=None):
        plain = super().socket(receive_buffer)
        return (context or self.context).wrap_socket(plain, server_hostname="localhost")

    def connect(self, **settings):
        return connect(self.url, ssl=self.context, **settings)


def secure(certificate, *arguments):
    return running(certificate, *arguments, kind=SecureServer)
