import { type Attack, attack, bait, tried } from '../attack.ts';

/** Programs that try to use the network. The host's own listeners notice when they are reached. */
export const networkAttacks: readonly Attack[] = [
  attack('a connection to the host', tried)`
    import socket
    for host in ("127.0.0.1", "localhost", "0.0.0.0", "::1", "::ffff:127.0.0.1"):
        try: socket.create_connection((host, ${bait.tcpPort}), 0.3).send(b"x")
        except Exception as error: print(type(error).__name__)`,
  attack('a page of the host', tried)`
    import asyncio, http.client, urllib.request
    def attempt(step):
        try: step()
        except BaseException as error: print(type(error).__name__)
    attempt(lambda: urllib.request.urlopen("http://127.0.0.1:${bait.tcpPort}/", timeout=0.3))
    attempt(lambda: http.client.HTTPConnection("127.0.0.1", ${bait.tcpPort}, timeout=0.3).request("GET", "/"))
    attempt(lambda: asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", ${bait.tcpPort}), 0.3)))`,
  attack('a datagram to the host', tried)`
    import socket
    for host in ("127.0.0.1", "0.0.0.0", "255.255.255.255"):
        try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (host, ${bait.udpPort}))
        except Exception as error: print(type(error).__name__)`,
  // An answer without a connection is not a leak: WebAssembly makes one up.
  attack('a name that is looked up', { ends: ['ok', 'timeout'] })`
    import socket
    for name in ("localhost", "sandbox-attack.example.test"):
        try: print(socket.getaddrinfo(name, 80))
        except OSError as error: print(type(error).__name__)
    print("TRIED")`,
  attack('a socket in the file system', tried)`
    import array, socket
    try:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect("${bait.unixSocket}")
        peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
        print("LEAK connected")
    except (OSError, AttributeError) as error: print(type(error).__name__)`,
  attack('a socket without a file', tried)`
    import socket
    # Some versions of Node fill the name up with zeros.
    for name in ("\0${bait.abstractSocket}", "\0${bait.abstractSocket}".ljust(108, "\0")):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, 5):
            try: socket.socket(socket.AF_UNIX, kind).connect(name)
            except (OSError, AttributeError) as error: print(type(error).__name__)
            try: socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b"x", name)
            except (OSError, AttributeError) as error: print(type(error).__name__)`,
  attack('sockets below and beside the network', tried)`
    import socket
    kinds = {"raw": (2, 3, 1), "packet": (17, 3, 768), "netlink": (16, 3, 0), "audit": (16, 3, 9), "vsock": (40, 1, 0),
             "crypto": (38, 5, 0), "bluetooth": (31, 3, 1), "can": (29, 3, 1), "key": (15, 3, 2), "xdp": (44, 3, 0),
             "alg": (38, 5, 0), "tipc": (30, 1, 0), "rds": (21, 5, 0)}
    for name, kind in kinds.items():
        try:
            socket.socket(*kind)
            print("LEAK a socket of kind", name)
        except OSError as error: print(error)`,
  attack('a server', tried)`
    import socket, time
    try:
        server = socket.socket()
        server.bind(("0.0.0.0", ${bait.freePort}))
        server.listen()
        time.sleep(0.4)
    except OSError as error: print(type(error).__name__)`,
  attack('what is inherited', { ends: ['ok', 'crashed', 'signaled', 'timeout'] })`
    import stat
    for descriptor in range(3, 1024):
        try: mode = os.fstat(descriptor).st_mode
        except OSError: continue
        kind = next((name for name in ("DIR", "REG", "SOCK", "CHR", "BLK", "FIFO") if getattr(stat, "S_IS" + name)(mode)), "?")
        print(descriptor, kind)
        if kind == "DIR":
            for path in ("../" * 20 + "etc/passwd", "../" * 20 + "${bait.folder}/secret.txt"[1:]):
                try: print("LEAK by descriptor", os.read(os.open(path, os.O_RDONLY, dir_fd=descriptor), 60))
                except OSError: pass
        if kind == "REG":
            try: print(os.pread(descriptor, 4096, 0))
            except OSError: pass
        try: os.write(descriptor, b"written by a program")
        except OSError: pass
    print("TRIED")`,
  attack('descriptors that are handed over', { ends: ['ok', 'crashed', 'signaled'] })`
    import array, socket
    for descriptor in range(0, 1024):
        try:
            peer = socket.socket(fileno=os.dup(descriptor))
            peer.settimeout(0.05)
            data, extra, *_ = peer.recvmsg(4096, socket.CMSG_SPACE(64))
            if extra: print("LEAK received a descriptor by", descriptor)
        except Exception: pass
        # SO_PEERCRED and SO_PEERPIDFD: who is at the other end.
        for option in (17, 77):
            try: print("LEAK a process is named by", descriptor, socket.socket(fileno=os.dup(descriptor)).getsockopt(socket.SOL_SOCKET, option))
            except Exception: pass
        try:
            peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
        except Exception: pass
    print("TRIED")`,
];
