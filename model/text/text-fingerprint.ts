import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** SHA-256 of a model folder's `tokenizer.json`: two models with the same one write the same text as the same tokens. */
export async function textFingerprint(folder: string): Promise<string> {
  const tokenizer = await readFile(join(folder, 'tokenizer.json'));
  return createHash('sha256').update(tokenizer).digest('hex');
}
