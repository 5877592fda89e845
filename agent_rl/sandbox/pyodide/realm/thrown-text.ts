import type { InstanceSettings } from '../protocol.ts';

/** Emscripten has numbers of its own, which are not Linux's. */
const errnoNames: Readonly<Record<number, string>> = {
  2: 'EACCES',
  20: 'EEXIST',
  31: 'EISDIR',
  37: 'ENAMETOOLONG',
  44: 'ENOENT',
  48: 'ENOMEM',
  51: 'ENOSPC',
  54: 'ENOTDIR',
};
const noSpace = 51;

/** The message of what crossed from the realm, which may be anything at all. */
export function thrownText(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown).slice(-600);
    const message: unknown = Reflect.get(thrown, 'message');
    const errno: unknown = Reflect.get(thrown, 'errno');
    // Errors of Emscripten's file system have a number and no message.
    if (message !== undefined || typeof errno !== 'number') return String(message).slice(-600);
    return `${errnoNames[errno] ?? 'an error of the file system'} (Emscripten's errno ${errno})`;
  } catch {
    return 'something that cannot be shown';
  }
}

/** Why files could not be put in place, and where that was for want of room, how much there is. */
export function filesProblemText(
  thrown: unknown,
  { fileBytes, fileCount }: Pick<InstanceSettings, 'fileBytes' | 'fileCount'>,
): string {
  const text = thrownText(thrown);
  if (!text.startsWith(`${errnoNames[noSpace]} `)) return text;
  const mebibytes = fileBytes / 2 ** 20;
  return `${text}; at most ${mebibytes} MiB and ${fileCount} files and folders are allowed`;
}
