"""Runs a program in a pseudo-terminal: run-in-terminal.py COLUMNS ROWS PROGRAM [ARGUMENT ...]

What the program writes to its terminal goes to stdout as it is; the exit status is the program's. Each byte on stdin is
typed at the terminal.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    # The size is set before the program asks for it.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])

typed = [0]
while True:
    ready, _, _ = select.select([terminal, *typed], [], [])
    if 0 in ready:
        keys = os.read(0, 1024)
        if keys:
            os.write(terminal, keys)
        else:
            typed = []
    if terminal in ready:
        try:
            written = os.read(terminal, 65536)
        except OSError:
            # Linux says so when the program has left its terminal.
            written = b""
        if not written:
            break
        while written:
            written = written[os.write(1, written) :]
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
