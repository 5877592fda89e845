import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { inClass, listed, named, shorthand, union } from './character-ranges.ts';
import { foundIn } from './cutting.ts';
import { patternOf } from './pre-tokenizer.ts';

type Json = Readonly<Record<string, unknown>>;
type Change = (text: string) => string;

/** A step as the library has built it. */
export type BuiltChange = Change & { readonly pattern?: RegExp };

/**
 * The "normalizer" of a tokenizer.json as steps in a row that the JavaScript library takes as Rust's does, but for the
 * version of Unicode, for which there is `normalizing`.
 *
 * @throws Error that says what is not supported
 */
export function normalizerSteps(json: unknown): readonly Json[] {
  if (json === null || json === undefined) return [];
  const { type, normalizers, pattern, content, ...sides } = isRecord(json) ? json : {};
  switch (type) {
    case 'Sequence':
      if (!Array.isArray(normalizers)) throw new Error('"normalizers" is not a list');
      return normalizers.flatMap(normalizerSteps);
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD':
      return [{ type }];
    case 'Replace':
      return [replace(patternOf(pattern), String(content))];
    case 'Strip':
      return [
        ...(sides['strip_left'] === false ? [] : [replace(`\\A${blanks}`, '')]),
        ...(sides['strip_right'] === false ? [] : [replace(`${blanks}\\z`, '')]),
      ];
    default:
      throw new Error(`its normalizer ${JSON.stringify(type)} is not supported`);
  }
}

const blanks = `[${inClass(shorthand['s']!)}]+`;

const replace = (pattern: string, content: string): Json => ({
  type: 'Replace',
  pattern: { Regex: pattern },
  content,
});

/** The steps, as the library has built them, one after the other. */
export function normalizing(steps: readonly Json[], built: readonly BuiltChange[]): Change {
  const changes = built.map((change, at): Change => {
    const { pattern } = change;
    return pattern === undefined
      ? inUnicode9(change)
      : (text) =>
          foundIn(text, pattern)
            .map(({ start, end, found }) =>
              found ? String(steps[at]?.['content']) : text.slice(start, end),
            )
            .join('');
  });
  return (text) => changes.reduce((changed, change) => change(changed), text);
}

/**
 * Characters that compose, decompose or change their order in later versions of Unicode than the ninth, which Rust's
 * tokenizers normalise by. To them each of these is a character that has nothing to do with its neighbours.
 */
const later = union(
  named('Cn')!,
  listed(
    '7fd 897-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1add 1ae0-1aeb 1df6-1dfa 32ff a7f1-a7f4 a82c ab69 105c9 105d2 ' +
      '105da 105e4 10781-10785 10787-107b0 107b2-107ba 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10efb 10efd-10eff ' +
      '10f46-10f50 10f82-10f85 11070 1133b 11382-11385 1138b 1138e 11390-11391 113c2 113c5 113c7-113c8 113ce-113d0 1145e ' +
      '11839-1183a 11935 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42 11d44-11d45 11d97 11f41-11f42 1611e ' +
      '16121-16129 1612f 16d63 16d67-16d6a 16ff0-16ff1 1ccd6-1ccf9 1e030-1e06d 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef ' +
      '1e4ec-1e4ef 1e5ee-1e5ef 1f16c 1fbf0-1fbf9',
  ),
);
const runs = new RegExp(`([${inClass(later).replaceAll('\\x', '\\u')}]+)`, 'u');

const inUnicode9 =
  (change: Change): Change =>
  (text) =>
    runs.test(text)
      ? text
          .split(runs)
          .map((part, at) => (at % 2 === 1 ? part : change(part)))
          .join('')
      : change(text);
