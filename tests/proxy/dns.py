# A name server: writes down each name that it is asked for, knows named.test (203.0.113.7) and no other.
import socket
import sys

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("203.0.113.53", 53))
while True:
    packet, client = server.recvfrom(4096)
    at, labels = 12, []
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("latin-1"))
        at += packet[at] + 1
    name, kind, question = ".".join(labels), packet[at + 1 : at + 3], packet[12 : at + 5]
    with open(sys.argv[1], "a") as asked:
        print(name, file=asked)
    known = name == "named.test" and kind == b"\0\1"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + bytes([203, 0, 113, 7]) if known else b""
    flags = b"\x81\x80" if name == "named.test" else b"\x81\x83"
    server.sendto(packet[:2] + flags + b"\0\1" + (b"\0\1" if known else b"\0\0") + bytes(4) + question + answer, client)
