import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { wholeNumber } from '../bench/bench-run.ts';

/** `--out` and `--seed` of a script that makes data. */
export function outAndSeed(usual: { out: string; seed: number }): typeof usual {
  const options = {
    out: { type: 'string', default: usual.out },
    seed: { type: 'string', default: String(usual.seed) },
  } as const;
  const { out, seed } = parseArgs({ options }).values;
  return { out, seed: wholeNumber('seed', seed, 0) };
}

/** Writes files of lines below a folder, and says how long each is. */
export async function writeData(out: string, files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(out, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
    process.stdout.write(`${file}: ${text.split('\n').length - 1} lines\n`);
  }
}
