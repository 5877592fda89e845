import { relative } from 'node:path';

/** A path as it is shorter from here, if it lies below. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** A path as a word of a command line that can be pasted. */
export function pathWord(path: string): string {
  const short = shortPath(path);
  if (/^[\w./\\:@=+-]+$/.test(short)) return short;
  return process.platform === 'win32' ? `"${short}"` : `'${short.replaceAll("'", `'\\''`)}'`;
}

/** The command that continues a run, with the settings that its folder holds. */
export const resumeCommand = (folder: string, ...more: readonly string[]): string =>
  ['npx agent-rl train --resume', pathWord(folder), ...more].join(' ');
