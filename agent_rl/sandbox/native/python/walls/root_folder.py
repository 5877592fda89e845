"""A root of its own for level `ns`: the visible paths read-only, five devices, nothing else of the machine."""

import os

from walls.kernel import (
    MOUNT_BIND, MOUNT_NO_DEV, MOUNT_NO_EXEC, MOUNT_NO_SUID, MOUNT_PRIVATE, MOUNT_READ_ONLY, MOUNT_RECURSIVE,
    MOUNT_REMOUNT, NEW_NAMESPACE_IPC, NEW_NAMESPACE_MOUNT, NEW_NAMESPACE_NET, NEW_NAMESPACE_USER,
    NEW_NAMESPACE_UTS, enter_root, mount, unshare,
)
from walls.visible_paths import DEVICES

WORK_FOLDER = '/tmp'
_MOUNT_POINTS = ('/tmp', '/var/tmp', '/run', '/mnt', '/opt', '/home')
_SMALL = 'size=1m,mode=755,nr_inodes=2000'
# As statvfs names them, and as mount(2) takes them: flags of a mount that a user namespace may not drop.
_LOCKED = {1024: 1024, 2048: 2048, 4096: 1 << 21}


def enter_namespaces(paths, proc, as_root):
    """Moves this process into namespaces and a root of its own. `proc` is a descriptor of /proc. Raises OSError.

    Children must still be cloned into a process namespace. Without root a user namespace gives the rights to do so.
    """
    flags = NEW_NAMESPACE_MOUNT | NEW_NAMESPACE_NET | NEW_NAMESPACE_IPC | NEW_NAMESPACE_UTS
    if as_root:
        unshare(flags)
    else:
        _enter_user_namespace(flags, proc)
    mount(None, '/', flags=MOUNT_RECURSIVE | MOUNT_PRIVATE)
    root = _build_root(paths)
    enter_root(root)
    mount(None, '/', flags=MOUNT_BIND | MOUNT_REMOUNT | MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV)


def _enter_user_namespace(flags, proc):
    user, group = os.getuid(), os.getgid()
    unshare(flags | NEW_NAMESPACE_USER)
    _write('/proc/self/setgroups', 'deny')
    keep_user(proc, user, group)


def keep_user(proc, user, group):
    """In a new user namespace, where setgroups is denied: user and group keep their numbers. Raises OSError."""
    for name, number in (('uid_map', user), ('gid_map', group)):
        descriptor = os.open('self/' + name, os.O_WRONLY, dir_fd=proc)
        os.write(descriptor, b'%d %d 1' % (number, number))
        os.close(descriptor)


def _build_root(paths):
    base = _free_folder(paths)
    mount('tmpfs', base, 'tmpfs', flags=MOUNT_NO_SUID | MOUNT_NO_DEV, data=_SMALL)
    root = base + '/root'
    os.mkdir(root)
    mount('tmpfs', root, 'tmpfs', flags=MOUNT_NO_SUID | MOUNT_NO_DEV, data=_SMALL)
    for path in paths:
        _bind(path, root + path)
    for device in DEVICES:
        _bind(device, root + device, device=True)
    _link_libraries(root)
    for folder in (WORK_FOLDER, '/dev/shm', '/etc'):
        os.makedirs(root + folder, exist_ok=True)
    _write(root + '/etc/passwd', 'sandbox:x:64000:64000::/tmp:/bin/false\n')
    return root


def _free_folder(paths):
    # It is covered, in this process's own mount namespace only, so nothing that must be seen may lie in it.
    for folder in _MOUNT_POINTS:
        if os.path.isdir(folder) and not any(path.startswith(folder + '/') for path in paths):
            return folder
    raise FileNotFoundError('no folder can serve as a temporary mount point: tried %s' % ', '.join(_MOUNT_POINTS))


def _bind(source, target, device=False):
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write(target, '')
    mount(source, target, flags=MOUNT_BIND | MOUNT_RECURSIVE)
    present = os.statvfs(target).f_flag
    kept = present & (MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC)
    for flag, as_mounted in _LOCKED.items():
        kept |= as_mounted if present & flag else 0
    walls = MOUNT_NO_SUID if device else MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_READ_ONLY
    mount(None, target, flags=MOUNT_BIND | MOUNT_REMOUNT | walls | kept)


def _link_libraries(root):
    # On most systems /lib and /lib64 are links into /usr.
    for path in ('/lib', '/lib64', '/usr/lib64'):
        if os.path.islink(path) and not os.path.lexists(root + path):
            os.symlink(os.readlink(path), root + path)


def _write(path, text):
    with open(path, 'w') as file:
        file.write(text)
