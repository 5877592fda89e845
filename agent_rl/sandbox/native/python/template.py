"""The process that every run is a copy of.

Between two runs it does the same few things in the same order, so that memory is laid out alike in each run: what a program
prints of an object's address depends on the program alone, not on what else is going on. All bookkeeping is the zygote's.
"""

import array
import errno
import json
import os
import socket
import struct

from walls import kernel
from child import run_child

REPLY = struct.Struct('=i')
_MOST_DESCRIPTORS = 16
# Whatever the request, one size: a buffer that is kept while a run is copied lies at the same place.
_REQUEST_BYTES = 4096


def ask(link, request, descriptors):
    """Has a run started, by the zygote, whose child it is; its process number. Raises OSError."""
    body = json.dumps(request).encode().ljust(_REQUEST_BYTES)
    link.sendmsg([body], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', descriptors))])
    pid, = REPLY.unpack(link.recv(REPLY.size))
    if pid < 0:
        raise OSError(-pid, os.strerror(-pid))
    return pid


def serve(link, jail):
    """Does not return."""
    while True:
        # Nothing of a request is left when the next one comes.
        _start(link, jail)


def _start(link, jail):
    body, ancillary, _, _ = link.recvmsg(_REQUEST_BYTES, socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS))
    if not body:
        os._exit(0)
    descriptors = array.array('i')
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    try:
        pid = kernel.clone(jail.namespaces | kernel.CLONE_PARENT)
    except OSError as error:
        # Never 0, which is the copy's own.
        pid = -(error.errno or errno.EAGAIN)
    if pid == 0:
        _run(jail, json.loads(body), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    link.send(REPLY.pack(pid))


def _run(jail, request, descriptors):
    try:
        # The last descriptor is the reaper's.
        *own, report = descriptors
        jail.enter(request, report, lambda folder: run_child(jail, request, own, folder))
    finally:
        os._exit(125)
