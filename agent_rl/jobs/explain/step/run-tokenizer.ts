import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { RecordedRun } from '../../../runs/recorded-run.ts';
import { Tokenizer } from '../../../../model/text/tokenizer.ts';
import { RunSettings } from '../../../runs/run-settings.ts';

/**
 * The tokenizer of a run: that of one of its checkpoints, all of which have the same, or of the model it began with.
 *
 * @returns `undefined` when neither is there any more
 * @throws AgentRlError `TOKENIZER_INVALID`
 */
export async function runTokenizer({
  folder,
  config,
}: Pick<RecordedRun, 'folder' | 'config'>): Promise<Tokenizer | undefined> {
  const { checkpoints } = folder;
  const names = existsSync(checkpoints) ? readdirSync(checkpoints).toSorted() : [];
  const started = new RunSettings(config).at('model.path');
  const candidates = [
    ...names.map((name) => join(checkpoints, name)),
    ...(typeof started === 'string' ? [started] : []),
  ];
  const found = candidates.find((path) => existsSync(join(path, 'tokenizer.json')));
  return found === undefined ? undefined : Tokenizer.fromFolder(found);
}
