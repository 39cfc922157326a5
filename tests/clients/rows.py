"""The words of the little clients: records as lines of text, and how a client is told to stop.

A record is `timestamp key value [name=value]...`, all bytes in hexadecimal, `-` for what is null and nothing for what is empty:
the form of the Java judge. A plan is a file of such records with their partitions, in groups that each say how to write it:

    with CODEC MODE        (plain, idempotent, commit or abort)
    PARTITION TIMESTAMP KEY VALUE [NAME=VALUE]...
"""

import signal
import sys


def plan(path):
    """Yields (codec, mode, [(partition, timestamp, key, value, headers)]) for each group."""
    group = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split(" ")
            if fields[0] == "with":
                if group:
                    yield group
                group = (fields[1], fields[2], [])
            else:
                headers = [field.split("=") for field in fields[4:]]
                headers = [(bytes.fromhex(name).decode(), unhex(value)) for name, value in headers]
                group[2].append((int(fields[0]), int(fields[1]), unhex(fields[2]), unhex(fields[3]), headers))
    if group:
        yield group


def show(partition, offset, timestamp, key, value, headers):
    """Prints a record at once: somebody waits for it."""
    text = f"{partition} {offset} {timestamp} {as_hex(key)} {as_hex(value)}"
    for name, content in headers or []:
        text += f" {name.encode().hex()}={as_hex(content)}"
    print(text, flush=True)


def told():
    """A function that says whether SIGTERM has come."""
    signals = []
    signal.signal(signal.SIGTERM, lambda *_: signals.append(True))
    return lambda: bool(signals)


class Told(Exception):
    """SIGTERM, to a program that has asked for it as an exception."""

    @classmethod
    def expect(cls):
        def interrupt(*_):
            raise cls

        signal.signal(signal.SIGTERM, interrupt)


def run(write, read, join):
    """write BOOTSTRAP TOPIC PLAN | read BOOTSTRAP TOPIC ISOLATION COUNT | join BOOTSTRAP TOPIC GROUP"""
    command, bootstrap, topic, *words = sys.argv[1:]
    if command == "write":
        for number, group in enumerate(plan(words[0])):
            write(bootstrap, topic, number, *group)
    elif command == "read":
        read(bootstrap, topic, words[0], int(words[1]))
    elif command == "join":
        join(bootstrap, topic, words[0])
    else:
        raise SystemExit(f"no command {command}")


def unhex(text):
    return None if text == "-" else bytes.fromhex(text)


def as_hex(content):
    return "-" if content is None else content.hex()
