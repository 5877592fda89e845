"""Started by Node with requests on standard input and replies on standard output, and as arguments FOLDER and SETTINGS.

FOLDER is the one this file lies in. Node has Python run the text of this file under a bare name (`-c`), and our modules are
loaded under theirs: each run is a copy of this process, and its program can look at all of them.

SETTINGS is JSON: `level` (`ns` or `lite`), `hidden` folders, `preload` modules beyond the standard library, and for
level `lite` the `base` folder under which runs get theirs. Level `sweep` removes what dead supervisors left in `base`.
"""

import gc
import importlib.machinery
import json
import os
import signal
import site
import socket
import sys
import time

_here = sys.argv[1]
# The folder of the sandbox, which holds the harness too.
_top = os.path.dirname(os.path.dirname(_here))


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module under its bare name."""

    def source_to_code(self, data, path, **options):
        return super().source_to_code(data, '<%s>' % os.path.basename(path), **options)


def _find_own(path):
    if path != _top and not path.startswith(_top + os.sep):
        raise ImportError(path)
    return importlib.machinery.FileFinder(path, (_Loader, ['.py']))


sys.path_hooks.insert(0, _find_own)
# Not what lies where this process was started.
sys.path[:] = [_here, _top, *(path for path in sys.path if path)]

from walls import kernel, work_folder
import zygote
from walls.jail import LiteJail, NamespaceJail
from supervisor import Supervisor

_CLEARING_S = 10
# What programs import most: in the zygote's memory it costs a run nothing.
_STANDARD = '''
    abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections contextlib copy csv dataclasses
    datetime decimal difflib doctest enum fractions functools hashlib heapq inspect io itertools json linecache locale
    logging math numbers operator pprint queue random re secrets shutil signal socket statistics string struct subprocess
    tempfile textwrap threading time timeit tokenize traceback types typing unittest uuid weakref zipfile
'''.split()


def main():
    settings = json.loads(sys.argv[2])
    if settings['level'] == 'sweep':
        print(json.dumps({'swept': work_folder.sweep(settings['base'])}))
        return
    settings['fixed_addresses'] = _fix_addresses()
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open('/dev/null', os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.close(nothing)
    # The end of the requests says so too, and then there is time to clean up, but not forever.
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_CLEARING_S))
    kernel.die_with_parent(signal.SIGTERM)
    lock = None
    if settings['level'] == 'lite':
        settings['base'], lock, settings['swept'] = work_folder.open_base(settings['base'])
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote_id = os.fork()
    if zygote_id == 0:
        ours.close()
        for descriptor in (requests, replies, *([lock] if lock is not None else [])):
            os.close(descriptor)
        _be_zygote(its, settings)
        os._exit(0)
    its.close()
    hello = json.loads(ours.recv(1 << 20) or '{"failed": "the zygote ended before it was ready"}')
    os.write(replies, (json.dumps(hello) + '\n').encode())
    if 'failed' in hello:
        _clear(zygote_id, settings)
        os._exit(1)
    Supervisor(requests, replies, ours, lambda: _clear(zygote_id, settings)).run()


def _clear(zygote_id, settings):
    # Its runs end with it.
    os.kill(zygote_id, signal.SIGKILL)
    os.waitpid(zygote_id, 0)
    if settings['level'] == 'lite':
        until = time.monotonic() + _CLEARING_S / 2
        # They may still be at it.
        while not work_folder.remove_tree(settings['base']) and time.monotonic() < until:
            time.sleep(0.01)


def _fix_addresses():
    # What a program prints of an object often holds its address; it should be the same the next time.
    try:
        if not kernel.fix_addresses():
            with open('/proc/self/cmdline', 'rb') as file:
                arguments = file.read().split(b'\0')[1:-1]
            os.execv(sys.executable, [os.fsencode(sys.executable), *arguments])
        return True
    except OSError:
        return False


def _be_zygote(link, settings):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    kernel.die_with_parent()
    try:
        _preload(settings['preload'])
        jail = _jail(settings)
        _hide_own_modules()
        hello = {'python': sys.version.split()[0], 'level': jail.level, 'walls': jail.describe(), 'fixedAddresses': settings['fixed_addresses'],
                 'swept': settings.get('swept', 0)}
    except BaseException as error:
        link.send(json.dumps({'failed': '%s: %s' % (type(error).__name__, error)}).encode())
        os._exit(1)
    # Where things lie on this machine is no business of a program.
    settings.clear()
    sys.argv = sys.orig_argv = ['main.py']
    gc.collect()
    gc.freeze()
    link.send(json.dumps(hello).encode())
    zygote.serve(link, jail)


def _hide_own_modules():
    # A program that imports `loop` or `limits` means its own; we hold ours by reference. Nor is it told where they lie.
    global _here, _top
    for name, module in list(sys.modules.items()):
        if isinstance(getattr(module, '__loader__', None), _Loader):
            del sys.modules[name]
            module.__file__ = module.__spec__ = module.__loader__ = module.__path__ = module.__cached__ = None
    sys.path[:] = [path for path in sys.path if path not in (_here, _top)]
    sys.path_hooks.remove(_find_own)
    for path in [path for path in sys.path_importer_cache if path.startswith(_top)]:
        del sys.path_importer_cache[path]
    _here = _top = None


def _preload(modules):
    # What `python main.py` has among its built-ins, without the packages that site.main looks for.
    for add in (site.setquit, site.setcopyright, site.sethelper):
        add()
    if modules:
        # Packages beside the standard library are seen only by those who ask for one.
        site.main()
    for name in (*_STANDARD, *modules):
        __import__(name)
    threads = len(os.listdir('/proc/self/task'))
    if threads > 1:
        raise RuntimeError(
            'with %s imported there are %d threads, which forks would leave behind: preload what starts none'
            % (', '.join(modules), threads)
        )


def _jail(settings):
    if settings['level'] == 'ns':
        return NamespaceJail(settings['hidden'])
    return LiteJail(settings['hidden'], settings['base'])


main()
