import { join } from 'node:path';

import { sha256Of } from '../../agent_rl/core/services/sha256-of.ts';

/** SHA-256 of a model folder's `tokenizer.json`: two models with the same one write the same text as the same tokens. */
export const textFingerprint = (folder: string): Promise<string> =>
  sha256Of([join(folder, 'tokenizer.json')]);
