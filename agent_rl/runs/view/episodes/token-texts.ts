import { messageOf } from '../../../core/errors.ts';
import { bytesOfToken } from '../../../../model/text/token-bytes.ts';
import type { Tokenizer } from '../../../../model/text/tokenizer.ts';
import type { RecordedRun } from '../../query/recorded-run.ts';
import { runTokenizer, tokenizerPlaces } from '../../query/run-tokenizer.ts';

/** Texts of tokens one by one, in the run's own vocabulary. */
export interface TokenTexts {
  of(id: number): string;
}

const replacement = '\uFFFD';

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
  #opened: TokenTexts | undefined;

  constructor(private readonly run: () => Pick<RecordedRun, 'folder' | 'settings'>) {}

  async open(): Promise<{ texts: TokenTexts | null; problem: string | null }> {
    try {
      const run = this.run();
      const tokenizer = this.#opened === undefined ? await runTokenizer(run) : undefined;
      // The first checkpoint may still come.
      if (tokenizer !== undefined) this.#opened = textsOf(tokenizer);
      const { checkpoints } = run.folder;
      const places = [checkpoints, ...tokenizerPlaces(run).slice(-1)].join(' or ');
      const texts = this.#opened ?? null;
      return { texts, problem: texts ? null : `There is no tokenizer.json in ${places}` };
    } catch (thrown) {
      return { texts: null, problem: messageOf(thrown) };
    }
  }
}
