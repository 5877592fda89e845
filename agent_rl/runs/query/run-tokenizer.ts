import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { Tokenizer } from '../../../model/text/tokenizer.ts';
import type { RecordedRun } from './recorded-run.ts';

/** Where the tokenizer of a run may be: in its checkpoints, all of which have the same, or beside the model it began with. */
export function tokenizerPlaces({
  folder: { checkpoints },
  settings,
}: Pick<RecordedRun, 'folder' | 'settings'>): string[] {
  const names = existsSync(checkpoints) ? readdirSync(checkpoints).toSorted() : [];
  const started = [settings.at('model.hfModelName'), settings.at('model.path')];
  return [
    ...names.map((name) => join(checkpoints, name)),
    ...started.filter((place) => typeof place === 'string'),
  ];
}

/** The tokenizer of a run; `undefined` where it is not there any more. @throws AgentRlError `TOKENIZER_INVALID` */
export async function runTokenizer(
  run: Pick<RecordedRun, 'folder' | 'settings'>,
): Promise<Tokenizer | undefined> {
  const place = tokenizerPlaces(run).find((path) => existsSync(join(path, 'tokenizer.json')));
  return place === undefined ? undefined : Tokenizer.fromFolder(place);
}
