import { createHash } from 'node:crypto';

import { secretPattern } from './host/secrets.ts';

/**
 * Python that knows secrets only by their hashes, so that it never finds its own copy.
 *
 * `look(data, where)` prints LEAK for each secret in bytes. `memory()` gives the readable memory of this process.
 */
export function findSecrets(secrets: Readonly<Record<string, string>>): string {
  const hash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
  const known = Object.entries(secrets).map(([name, secret]) => [hash(secret), name]);
  return `
import ctypes, gc, hashlib, os, re, sys
KNOWN = dict(${JSON.stringify(known)})
PATTERN = re.compile(rb'${secretPattern}')
def look(data, where):
    for found in set(PATTERN.findall(data)):
        name = KNOWN.get(hashlib.sha256(found).hexdigest())
        if name: print('LEAK', name, where)
def memory():
    if sys.platform == 'emscripten': return linear_memory()
    try: return mapped_memory(open('/proc/self/maps').read())
    except OSError: return guessed_memory()
def linear_memory():
    # As far as the heap reaches, since one byte further ends the program.
    end = max(id(item) for item in gc.get_objects())
    for start in range(4096, end, 1 << 20): yield ctypes.string_at(start, min(1 << 20, end - start))
def mapped_memory(maps):
    for line in maps.splitlines():
        place, rights = line.split()[:2]
        first, last = [int(part, 16) for part in place.split('-')]
        if 'r' in rights and '[v' not in line and last - first <= 64 << 20: yield from readable(first, last)
def guessed_memory():
    near = {id(item) & ~0xfffff for item in gc.get_objects()}
    near |= {ctypes.addressof(ctypes.create_string_buffer(8)) & ~0xfffff, id('') & ~0xfffff}
    seen = set()
    for place in sorted(near):
        for first in range(place - (8 << 20), place + (16 << 20), 1 << 20):
            if first > 0 and first not in seen:
                seen.add(first)
                yield from readable(first, first + (1 << 20))
PIPE = None
def readable(first, last):
    # The kernel copies a page into a pipe and refuses what is not there, where a read would end the program.
    global PIPE
    if PIPE is None: PIPE = os.pipe(), ctypes.CDLL(None)
    (reading, writing), libc = PIPE
    whole = bytearray()
    for page in range(first, last, 4096):
        if libc.write(writing, ctypes.c_void_p(page), ctypes.c_size_t(4096)) == 4096: whole += os.read(reading, 4096)
    yield bytes(whole)
`.trimStart();
}
