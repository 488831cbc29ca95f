# Web servers on all addresses of where it runs: http on 80 and 8080, https on 443 and 8443. They serve
# DIRECTORY/site, and write each request's address, port and path to DIRECTORY/heard.
import functools
import http.server
import socket
import ssl
import sys
import threading

directory = sys.argv[1]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        address = self.connection.getsockname()
        with open(directory + "/heard", "a") as heard:
            print(address[0].removeprefix("::ffff:"), address[1], self.path, file=heard)


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(directory + "/certificate.pem", directory + "/key.pem")
handler = functools.partial(Handler, directory=directory + "/site")
for port in (80, 8080, 443, 8443):
    server = Server(("::", port), handler)
    if port in (443, 8443):
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    threading.Thread(target=server.serve_forever).start()
