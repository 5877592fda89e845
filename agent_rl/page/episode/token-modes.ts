import { unreachable } from '../../core/unreachable.ts';
import type { EpisodeTokens } from '../../runs/view/api.ts';

/** What the colour of a token stands for. */
export const tokenModes = ['source', 'log-probability', 'ratio', 'advantage', 'weight'] as const;

export type TokenMode = (typeof tokenModes)[number];

/** A step of a colour scale. */
export interface Step {
  class: string;
  meaning: string;
}

/** Bounds of -log p in nats: 0.05 is a probability of 95 %, 4 one of 2 %. */
const surprises = [0.05, 0.2, 0.5, 1, 2, 4];
/** Bounds of |log ratio|. */
const ratioSteps = [0.001, 0.02, 0.1, 0.2];
/** Bounds of |advantage|. */
const advantageSteps = [0.001, 0.25, 0.75, 1.5];
/** Bounds of a weight's share of the episode's largest. */
const weightSteps = [0.001, 0.25, 0.5, 0.75];

const noValue = 'none';

/** The classes of an episode's tokens in a mode; `none` for a token without such a value. */
export function tokenClasses(tokens: EpisodeTokens, mode: TokenMode): readonly string[] {
  const { ids, logProbs, learned } = tokens;
  if (mode === 'source') {
    const classes = ids.map(() => 'source-unknown');
    for (const { start, end, source } of tokens.spans)
      classes.fill(sourceClass(source), start, end);
    return classes;
  }
  const column = {
    'log-probability': logProbs,
    ratio: learned?.ratios,
    advantage: learned?.advantages,
    weight: learned?.weights,
  }[mode];
  const largest = Math.abs(
    column?.reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), 0) ?? 0,
  );
  return ids.map((_, at) => {
    const value = column?.[at] ?? null;
    return value === null ? noValue : stepOf(mode, value, largest);
  });
}

const known = new Set(['template', 'system', 'user', 'tool', 'sampled', 'demonstration']);

export const sourceClass = (source: string): string =>
  `source-${known.has(source) ? source : 'unknown'}`;

function stepOf(mode: Exclude<TokenMode, 'source'>, value: number, largest: number): string {
  switch (mode) {
    case 'log-probability':
      return `low${above(surprises, -value)}`;
    case 'ratio':
      return signed(ratioSteps, Math.log(value));
    case 'advantage':
      return signed(advantageSteps, value);
    case 'weight':
      return `up${above(weightSteps, largest === 0 ? 0 : Math.abs(value) / largest)}`;
    default:
      return unreachable(mode);
  }
}

/** How many bounds a value reaches or exceeds. */
const above = (bounds: readonly number[], value: number): number =>
  bounds.filter((bound) => value >= bound).length;

const signed = (bounds: readonly number[], value: number): string =>
  `${value < 0 ? 'down' : 'up'}${above(bounds, Math.abs(value))}`;

/** The scale of a mode, for its legend. */
export function scaleOf(mode: TokenMode, sources: readonly string[]): readonly Step[] {
  switch (mode) {
    case 'source':
      return sources.map((source) => ({ class: sourceClass(source), meaning: source }));
    case 'log-probability':
      return ['0', ...surprises.map((bound) => `≤ −${bound}`)].map((meaning, at) => ({
        class: `low${at}`,
        meaning,
      }));
    case 'ratio':
      return signedScale(
        ratioSteps.map((bound) => Math.exp(bound).toFixed(3)),
        ratioSteps.map((bound) => Math.exp(-bound).toFixed(3)),
        '1',
      );
    case 'advantage':
      return signedScale(
        advantageSteps.map(String),
        advantageSteps.map((bound) => `−${bound}`),
        '0',
      );
    case 'weight':
      return ['0', ...weightSteps.map((bound) => `≥ ${100 * bound} % of the largest`)].map(
        (meaning, at) => ({ class: `up${at}`, meaning }),
      );
    default:
      return unreachable(mode);
  }
}

function signedScale(
  ups: readonly string[],
  downs: readonly string[],
  middle: string,
): readonly Step[] {
  return [
    ...downs.map((bound, at) => ({ class: `down${at + 1}`, meaning: `≤ ${bound}` })).toReversed(),
    { class: 'up0', meaning: middle },
    ...ups.map((bound, at) => ({ class: `up${at + 1}`, meaning: `≥ ${bound}` })),
  ];
}
