"""The echo program with a certificate."""

import asyncio
import contextlib
import threading

import websockets

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
        return contextlib.closing(SecureClient(self.url, ssl=self.context, **settings))


class SecureClient:
    """A client whose calls block.

    The client of `websockets` reads in a thread of its own while another one writes. A session of OpenSSL allows one
    thread at a time, and one connection in a hundred gets stuck on a busy machine. Here one thread does all.
    """

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def __init__(self, url, **settings):
        async def connect():
            return await websockets.connect(url, **settings)
        self.client = self.wait(connect())

    def wait(self, coroutine, timeout=None):
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, timeout), self.loop).result()

    def send(self, message):
        self.wait(self.client.send(message))

    def recv(self, timeout=None):
        return self.wait(self.client.recv(), timeout)

    def close(self):
        self.wait(self.client.close())


def secure(certificate, *arguments):
    return running(certificate, *arguments, kind=SecureServer)
