# Asks a proxy for each argument, "METHOD TARGET", and prints the status that it answers, or "none". With
# --first LINE, says that first; with --port N, asks at that port.
import argparse
import socket

parser = argparse.ArgumentParser()
parser.add_argument("--first", default="")
parser.add_argument("--port", type=int, default=3128)
parser.add_argument("requests", nargs="+")
options = parser.parse_args()
first = options.first + "\r\n" if options.first else ""
for request in options.requests:
    try:
        with socket.create_connection(("127.0.0.1", options.port), timeout=20) as connection:
            connection.sendall(f"{first}{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            words = connection.makefile("rb").readline().split()
            print(words[1].decode() if len(words) > 1 else "none")
    except OSError as error:
        print("none", error.strerror)
