import { sum } from '../../../algorithms/statistics.ts';
import type { TokenUse } from '../../../rollout/tokens/ledger.ts';
import { onlyAgent } from '../../../core/rollout.ts';
import type { RecordedPart } from '../../../runs/query/parts.ts';
import type { IterationMetrics } from '../../../runs/query/metrics.ts';
import { countText, type MetricName, percentText, shortNumber } from '../../../telemetry/index.ts';
import type { Tokenizer } from '../../../../model/text/tokenizer.ts';
import { Series } from '../../../runs/query/series.ts';
import { useMeanings } from '../../../runs/query/use-meanings.ts';
import type { sharesByOutcome, StepGroup, TokenPulls } from './gradient.ts';

const column = (text: string, width: number): string => text.padEnd(width);

export function ledgerLines({ metrics }: Pick<IterationMetrics, 'metrics'>): string[] {
  const uses = Object.keys(useMeanings) as TokenUse[];
  const of = (use: TokenUse): number => metrics[`ledger/${use}`] ?? 0;
  const sampled = sum(uses.map(of));
  return [
    `Sampled tokens: ${sampled}`,
    ...uses
      .filter((use) => of(use) > 0)
      .map(
        (use) =>
          `  ${column(`${of(use)}`, 9)} ${column(percentText(of(use) / sampled), 8)} ${column(use, 15)} ${useMeanings[use]}`,
      ),
  ];
}

const shownGroups = 5;

export function groupLines(groups: readonly StepGroup[]): string[] {
  const kinds = ['mixed', 'all right', 'all wrong', 'not judged'] as const;
  const counts = kinds
    .map((kind) => ({ kind, count: groups.filter((group) => group.kind === kind).length }))
    .filter(({ count }) => count > 0);
  const pulling = groups.filter(({ share }) => share > 0);
  return [
    `Groups: ${groups.length}, ${counts.map(({ kind, count }) => `${count} ${kind}`).join(', ')}; ${groups.filter(({ isResampled }) => isResampled).length} resampled`,
    ...(pulling.length === 0
      ? []
      : [`  The gradient comes from ${countText(pulling.length, 'group')}; the largest shares:`]),
    ...pulling
      .slice(0, shownGroups)
      .map(
        ({ taskId, agent, members, kind, share }) =>
          `  ${column(percentText(share), 8)} ${agent === onlyAgent ? taskId : `${taskId}/${agent}`}: ${kind}, rewards ${rewardsText(members)}`,
      ),
  ];
}

const rewardsText = (members: readonly RecordedPart[]): string =>
  members
    .map(({ episode: { reward, groupReward } }) => groupReward?.reward ?? reward)
    .map((reward) => (reward === null ? '-' : shortNumber(reward)))
    .join(' ');

export const outcomeLines = (shares: ReturnType<typeof sharesByOutcome>): string[] => [
  'Gradient by outcome, as shares of |advantage x weight|:',
  ...shares.map(
    ({ outcome, episodes, up, down }) =>
      `  ${column(outcome, 20)} ${column(countText(episodes, 'episode'), 14)} more likely ${column(percentText(up), 8)} less likely ${percentText(down)}`,
  ),
];

/** Tokens as text, or as numbers where there is no tokenizer. */
export type Decode = (ids: readonly number[]) => string;

export const decoding =
  (tokenizer: Tokenizer | undefined): Decode =>
  (ids) =>
    tokenizer?.decode(ids) ?? ids.map((id) => `#${id}`).join(' ');

export function tokenLines({ size, up, down, strongest }: TokenPulls, decode: Decode): string[] {
  const sums = (tokens: TokenPulls['up']): string =>
    tokens
      .map(
        ({ token, pull, count }) =>
          `${JSON.stringify(decode([token]))} ${percentText(Math.abs(pull) / size)} (${countText(count, 'time')})`,
      )
      .join(', ') || 'none';
  return [
    'Tokens with the largest gradient, by advantage x weight x (1 - p), as shares of the total:',
    `  up    ${sums(up)}`,
    `  down  ${sums(down)}`,
    ...strongest.map(({ pull, probability, episode, context, at }) => {
      const text = [context.slice(0, at), context.slice(at, at + 1), context.slice(at + 1)].map(
        decode,
      );
      return `  ${pull > 0 ? 'up  ' : 'down'}  ${JSON.stringify(`${text[0]}»${text[1]}«${text[2]}`)}, p ${shortNumber(probability)}, in ${episode}`;
    }),
  ];
}

/** Why there is no gradient, or why it has no effect; nothing where there is one. */
export function zeroGradient(metrics: IterationMetrics['metrics']): string | undefined {
  const of = (use: TokenUse): number => metrics[`ledger/${use}`] ?? 0;
  const uses = (Object.keys(useMeanings) as TokenUse[]).toSorted((a, b) => of(b) - of(a));
  const norm = metrics['train/gradNorm'];
  const left = uses
    .filter((use) => use !== 'trained' && of(use) > 0)
    .map((use) => `${of(use)} ${use} (${useMeanings[use]})`)
    .join(', ');
  if (sum(uses.map(of)) === 0) return 'no tokens were sampled, or no ledger was recorded';
  if (of('trained') === 0 && norm === undefined)
    return `no sampled token contributes to the loss: ${left}`;
  if (norm === 0) {
    const shares = [
      `clipped ${metrics['sent/clipFraction'] ?? 0}`,
      `ratio too extreme ${metrics['sent/guarded'] ?? 0}`,
      `set to 0 by the correction ${metrics['correction/maskedShare'] ?? 0}`,
    ];
    return `tokens were trained on, but the loss gave them no gradient. Shares of these tokens: ${shares.join(', ')}`;
  }
  return metrics['train/learningRate'] === 0
    ? 'the learning rate is 0: the step had no effect'
    : undefined;
}

/** Figures of the update, each beside the median of the iterations around it. */
const figures: readonly (readonly [name: MetricName, words: string])[] = [
  ['train/learningRate', 'learning rate'],
  ['train/gradNorm', 'gradient norm before clipping'],
  ['train/loss', 'loss'],
  ['sent/advantageStd', 'standard deviation of advantages'],
  ['parity/maxAbsLogProbGap', 'largest gap between generator and learner, nats'],
  ['sent/ratio', 'mean ratio of new to old probability'],
  ['sent/ratioTail', 'share of tokens with ratio above 2 or below 1/2'],
  ['sent/clipFraction', 'share of tokens clipped'],
  ['sent/guarded', 'share of tokens without gradient: extreme ratio'],
  ['sent/kl', 'KL to the reference, nats'],
  ['sent/teacherKl', 'KL to the teacher, nats'],
  ['correction/maskedShare', 'share of tokens left out by the correction'],
  ['rollout/entropyEstimate', 'entropy of sampled tokens, nats per token'],
];

export function updateLines(
  { metrics }: IterationMetrics,
  around: readonly IterationMetrics[],
): string[] {
  const neighbours = new Series(around);
  return [
    `Update, compared with the median of ${countText(around.length, 'iteration')} around it:`,
    ...figures.flatMap(([name, words]) => {
      const value = metrics[name];
      const usual = neighbours.median(name);
      if (value === undefined) return [];
      const beside = usual === undefined ? '' : `  (${shortNumber(usual)})`;
      return [`  ${column(words, 50)} ${shortNumber(value)}${beside}  ${name}`];
    }),
  ];
}
