import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../../core/errors.ts';
import { bytesOfToken } from '../../../../model/text/token-bytes.ts';
import { Tokenizer } from '../../../../model/text/tokenizer.ts';
import { type RunFolder, runFolderAt } from '../../run-folder.ts';

/** Texts of tokens one by one, in the run's own vocabulary. */
export interface TokenTexts {
  of(id: number): string;
}

const replacement = '\uFFFD';

/** Opens a run's tokenizer: that of a checkpoint, or of the model it began with. @throws Error in words where there is none */
async function openTokenTexts(
  folder: Pick<RunFolder, 'path'>,
  model: string | undefined,
): Promise<TokenTexts> {
  const { checkpoints } = runFolderAt(folder.path);
  const saved = existsSync(checkpoints) ? readdirSync(checkpoints) : [];
  const places = saved.map((name) => join(checkpoints, name));
  if (model !== undefined) places.push(model);
  const place = places.find((one) => existsSync(join(one, 'tokenizer.json')));
  if (place === undefined)
    throw new Error(
      `There is no tokenizer.json in ${[checkpoints, model ?? []].flat().join(' or ')}`,
    );
  return textsOf(await Tokenizer.fromFolder(place));
}

/** Tokens are decoded behind another one: some decoders take the space off the first. */
export function textsOf(tokenizer: Tokenizer): TokenTexts {
  const [before] = tokenizer.encodePlain('a');
  const start = before === undefined ? '' : tokenizer.decode([before]);
  const known = new Map<number, string>();
  const decoded = (id: number): string => {
    const whole = before === undefined ? '' : tokenizer.decode([before, id]);
    return whole.startsWith(start) && before !== undefined
      ? whole.slice(start.length)
      : tokenizer.decode([id]);
  };
  return {
    of(id) {
      const text = known.get(id) ?? withBytes(decoded(id), tokenizer.tokenOf(id));
      known.set(id, text);
      return text;
    },
  };
}

/** A token that is a part of a character as its bytes, `<0xE2>`. */
function withBytes(text: string, token: string | undefined): string {
  if (!text.includes(replacement) || token === undefined) return text;
  const bytes = bytesOfToken(token);
  if (bytes === undefined) return token;
  return bytes.map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`).join('');
}

/** A tokenizer that opens when it is first asked for; why not, where it does not. */
export class LazyTokenTexts {
  #opened: Promise<{ texts: TokenTexts | null; problem: string | null }> | undefined;

  constructor(
    private readonly folder: Pick<RunFolder, 'path'>,
    private readonly model: string | undefined,
  ) {}

  async open(): Promise<{ texts: TokenTexts | null; problem: string | null }> {
    this.#opened ??= openTokenTexts(this.folder, this.model).then(
      (texts) => ({ texts, problem: null }),
      (thrown: unknown) => ({ texts: null, problem: messageOf(thrown) }),
    );
    const opened = await this.#opened;
    // The first checkpoint may still come.
    if (opened.texts === null) this.#opened = undefined;
    return opened;
  }
}
