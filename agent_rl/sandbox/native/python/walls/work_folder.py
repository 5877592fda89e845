"""Working folders of level `lite`, which has no mount of its own for each run: made, watched, and cleared away."""

import fcntl
import os
import shutil
import stat
import tempfile

_PREFIX = 'agent-rl-sandbox-'
_LOCK = 'lock'


def open_base(parent):
    """A folder for the runs of this supervisor, locked as long as it lives; leftovers of dead ones are swept first.

    Gives the folder, the descriptor that holds the lock, and how many were swept. Raises OSError.
    """
    swept = sweep(parent)
    base = tempfile.mkdtemp(prefix='%s%d-' % (_PREFIX, os.getuid()), dir=parent)
    # Other users of the machine may pass through to a run's folder, whose own mode shuts them out.
    os.chmod(base, 0o711)
    lock = os.open(os.path.join(base, _LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return base, lock, swept


def sweep(parent):
    """Removes the folders of this user's supervisors that are gone; how many."""
    count = 0
    prefix = '%s%d-' % (_PREFIX, os.getuid())
    for name in os.listdir(parent):
        folder = os.path.join(parent, name)
        if name.startswith(prefix) and _is_own_folder(folder) and _is_abandoned(folder):
            remove_tree(folder)
            count += 1
    return count


def _is_own_folder(folder):
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_abandoned(folder):
    try:
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(lock)


def usage(folder, most_bytes, most_entries):
    """Whether the folder holds more than allowed, or hides what it holds. Links are not followed; stops once it is sure."""
    total = entries = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if total > most_bytes or entries > most_entries:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            # Gone in the meantime.
            continue
        except OSError:
            # Too deep to be reached by its name, or shut by the program.
            return True
    return False


def remove_tree(top):
    """Removes a folder whatever a program made of it: no recursion, no long paths, links not followed. Whether it is gone.

    Folders inside folders are moved up to the top before they are emptied, so depth does not matter.
    """
    try:
        shutil.rmtree(top)
        return True
    except (OSError, RecursionError):
        pass
    try:
        os.chmod(top, 0o700)
        descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return not os.path.lexists(top)
    try:
        _empty(descriptor)
        os.rmdir(top)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _empty(top):
    moved = 0
    while True:
        names = os.listdir(top)
        if not names:
            return
        for name in names:
            if _removed(name, top):
                continue
            os.chmod(name, 0o700, dir_fd=top)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for each in os.listdir(inner):
                    if not _removed(each, inner):
                        moved += 1
                        os.rename(each, '.moved-%d' % moved, src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)


def _removed(name, folder):
    for remove in (os.unlink, os.rmdir):
        try:
            remove(name, dir_fd=folder)
            return True
        except OSError:
            continue
    return False
