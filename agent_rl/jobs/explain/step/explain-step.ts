import { AgentRlError } from '../../../core/errors.ts';
import type { RecordedRun } from '../../../runs/query/recorded-run.ts';
import { countText, percentText, visibleControls } from '../../../telemetry/index.ts';
import type { JobResult } from '../../job.ts';
import { leftOutLines } from '../findings-text.ts';
import { Unreadable } from '../../../runs/episodes/read-lines.ts';
import { readMetrics } from '../../../runs/query/metrics.ts';
import { batchesOf, type RecordedPart } from '../../../runs/query/parts.ts';
import type { RunSettings } from '../../../runs/query/run-settings.ts';
import { runTokenizer } from '../../../runs/query/run-tokenizer.ts';
import { sharesByOutcome, stepGroups, tokenPulls } from './gradient.ts';
import {
  decoding,
  groupLines,
  ledgerLines,
  outcomeLines,
  tokenLines,
  updateLines,
  zeroGradient,
} from './step-text.ts';

const shownTokens = 6;

/** Why the gradient of one iteration is what it is. @throws AgentRlError `CONFIG_INVALID` when the run has no such iteration */
export async function explainStep(
  recorded: RecordedRun,
  iteration: number,
  print: (text: string) => void,
): Promise<JobResult> {
  const { step, around, episodes, unreadable } = await stepEvidence(recorded, iteration);
  const { metrics } = step;
  const zero = zeroGradient(metrics);
  const learned = episodes.some((one) => one.learned !== undefined);
  const groups = stepGroups(episodes);
  const shares = sharesByOutcome(episodes.filter(({ episode }) => episode.learns));
  const pulls = tokenPulls(episodes, shownTokens);
  const decode = decoding(await runTokenizer(recorded));
  const success = metrics['rollout/successRate'];
  const lines = [
    `Iteration ${iteration}: ${countText(metrics['rollout/episodes'] ?? 0, 'episode')}${success === undefined ? '' : `, ${percentText(success)} solved`}`,
    ...leftOutLines(unreadable),
    ...(zero === undefined ? [] : [`No gradient: ${zero}.`]),
    ...ledgerLines(step),
    ...(episodes.length === 0 ? ['Its episodes are not recorded.'] : groupLines(groups)),
    ...(learned ? [] : [lacking]),
    ...(pulls.size > 0 ? [...outcomeLines(shares), ...tokenLines(pulls, decode)] : []),
    ...(pulls.size > 0 ? lossNote(recorded.settings) : []),
    ...updateLines(step, around),
  ];
  print(visibleControls(lines.join('\n')));
  return {
    iteration,
    metrics,
    zeroGradient: zero ?? null,
    learnedRecorded: learned,
    unreadable,
    groups: groups.map(({ members, ...group }) =>
      Object.assign(group, { rewards: members.map(({ episode }) => episode.reward) }),
    ),
    outcomes: shares,
    tokens: {
      up: pulls.up.map((one) => Object.assign({ text: decode([one.token]) }, one)),
      down: pulls.down.map((one) => Object.assign({ text: decode([one.token]) }, one)),
      strongest: pulls.strongest,
    },
  };
}

const neighbours = 5;

/** What is recorded of one iteration and, of metrics, of up to five before it and five after it. */
async function stepEvidence({ folder }: RecordedRun, iteration: number) {
  const unreadable = new Unreadable();
  const all = await readMetrics(folder, unreadable);
  const step = all.find((one) => one.iteration === iteration);
  if (step === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${folder.path} has no iteration ${iteration}. ${all.length === 0 ? 'No iteration is recorded yet' : `Iterations ${all[0]?.iteration} to ${all.at(-1)?.iteration} are recorded`}.`,
    );
  const around = all.filter((one) => {
    const distance = Math.abs(one.iteration - iteration);
    return distance > 0 && distance <= neighbours;
  });
  for await (const episodes of batchesOf(folder, { file: 'train', unreadable }))
    if ((episodes[0]?.episode.iteration ?? 0) >= iteration)
      return { step, around, episodes: ofIteration(episodes, iteration), unreadable };
  return { step, around, episodes: [], unreadable };
}

const ofIteration = (parts: readonly RecordedPart[], iteration: number): readonly RecordedPart[] =>
  parts.filter(({ episode }) => episode.iteration === iteration);

const lacking =
  'The update of each episode is not recorded, so the groups and tokens behind the gradient are unknown.';

/** Pulls follow the plain policy gradient. */
function lossNote(settings: RunSettings): string[] {
  const type = settings.at('algorithm.loss.type') ?? 'clipped';
  const passes = settings.number('algorithm.epochs', 1);
  if (type === 'clipped' && passes === 1) return [];
  return [
    `  in the first pass, before ${settings.now('algorithm.loss.type')} clips or weights ratios; ${settings.now('algorithm.epochs')}`,
  ];
}
