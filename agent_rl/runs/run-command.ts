/** A path as a word of a command line that can be pasted. */
export function pathWord(path: string): string {
  if (/^[\w./\\:@=+-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** The command that continues a run, with the settings that its folder holds. */
export const resumeCommand = (folder: string, ...more: readonly string[]): string =>
  ['npx agent-rl train --resume', pathWord(folder), ...more].join(' ');
