import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file of JSON, one value a line. */
export async function writeLines(file: string, values: readonly object[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  process.stdout.write(`${file}: ${values.length} lines\n`);
}
