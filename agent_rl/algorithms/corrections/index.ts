import { type Static, Type } from '../../core/typebox.ts';
import { number, within } from '../../config/blocks/block.ts';
import { correction, type CorrectionTokens } from '../../core/algorithm/correction.ts';

const upper = (description: string) =>
  number(description, { exclusiveMinimum: 0, maximum: 1e6, default: 2 });

const Cap = Type.Object({ cap: upper('Largest factor') });

const Bounds = Type.Object({
  low: number('Lower bound of the ratio; tokens below it are not trained', within(0, 1, 0.5)),
  high: number('Upper bound of the ratio; tokens above it are not trained', within(1, 1e6, 2)),
});

/** log proximal - log behaviour of each token. */
const logRatios = ({ behaviour, proximal }: CorrectionTokens): Float32Array =>
  proximal.map((value, place) => value - (behaviour[place] ?? Number.NaN));

/** Nothing is corrected: ratios are to the policy that sampled, and nothing is scored for it. */
const none = correction({
  name: 'none',
  description: 'No correction: the loss compares the policy with the one that sampled the tokens',
})(({ behaviour }: CorrectionTokens) => behaviour.map(() => 1));

/**
 * Truncated importance sampling, `min(proximal / behaviour, cap)` at each token.
 *
 * Ionides 2008, https://doi.org/10.1198/106186008X320456; between generator and learner: Yao et al. 2025,
 * https://fengyao.notion.site/off-policy-rl
 */
const tis = correction({
  name: 'tis',
  description:
    'Truncated importance sampling: each token is weighted by its own ratio, up to a cap',
  settings: Cap,
})((tokens: CorrectionTokens, { cap }: Static<typeof Cap>) =>
  logRatios(tokens).map((difference) => Math.min(Math.exp(difference), cap)),
);

/**
 * Masked importance sampling: the ratio within [low, high], and 0 outside, so that a token on which both disagree teaches
 * nothing.
 *
 * IcePop, Ling Team 2025, https://arxiv.org/abs/2510.18855
 */
const masked = correction({
  name: 'masked',
  description:
    'The ratio of each token; tokens with a ratio out of bounds are not trained (IcePop)',
  settings: Bounds,
})((tokens: CorrectionTokens, { low, high }: Static<typeof Bounds>) =>
  logRatios(tokens).map((difference) => {
    const ratio = Math.exp(difference);
    return ratio >= low && ratio <= high ? ratio : 0;
  }),
);

/**
 * Truncated importance sampling of whole episodes, `min(Π proximal / behaviour, cap)` at each of their tokens: what is
 * corrected is the chance of the episode, not of a token after a prefix that is taken as given.
 *
 * Precup et al. 2000, https://scholarworks.umass.edu/cs_faculty_pubs/80; for language models Liu et al. 2025,
 * https://richardli.xyz/rl-collapse
 */
const sequence = correction({
  name: 'sequence',
  description:
    'Truncated importance sampling: each token is weighted by the ratio of the whole episode, up to a cap',
  settings: Cap,
})((tokens: CorrectionTokens, { cap }: Static<typeof Cap>) => {
  const differences = logRatios(tokens);
  const factor = Math.min(Math.exp(differences.reduce((total, value) => total + value, 0)), cap);
  return differences.map(() => factor);
});

export const builtinCorrections = [none, tis, masked, sequence] as const;
