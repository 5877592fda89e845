import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';

const texts = 300;

/** What breaks parsers: quotes, brackets, escapes, line ends, half a surrogate pair, characters that are not letters. */
const awkward = '{ } [ ] ( ) < > " \' ` \\ / : ; , = # \n \r \t \0 \ud83d \ude00 😀 é \u2028 \ufeff'
  .split(' ')
  .concat(' ');

/**
 * Texts out of the given pieces and of random characters, the same ones each time. They are drawn with the package's
 * own generator, so that a project with the contracts needs no library for it.
 */
export const textsWith = (pieces: readonly string[]): string[] =>
  Array.from({ length: texts }, (_, index) => {
    const rng = new KeyedRng('contract', 'texts', index);
    const parts = Array.from({ length: rng.integer(13) }, () =>
      rng.uniform() < 0.5 ? rng.pick(pieces) : randomString(rng),
    );
    return parts.join('');
  });

const randomString = (rng: KeyedRng): string =>
  Array.from({ length: rng.integer(11) }, () =>
    rng.uniform() < 0.3 ? rng.pick(awkward) : String.fromCharCode(32 + rng.integer(95)),
  ).join('');
