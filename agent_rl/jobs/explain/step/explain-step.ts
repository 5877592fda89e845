import type { RecordedRun } from '../../../runs/recorded-run.ts';
import { countText, percentText, visibleControls } from '../../../telemetry/index.ts';
import type { JobResult } from '../../job.ts';
import { leftOutLines } from '../left-out-text.ts';
import { RunSettings } from '../../../runs/run-settings.ts';
import { sharesByOutcome, stepGroups } from './gradient-shares.ts';
import { zeroGradient } from './ledger-words.ts';
import { runTokenizer } from './run-tokenizer.ts';
import { stepEvidence } from './step-evidence.ts';
import {
  decoding,
  groupLines,
  ledgerLines,
  outcomeLines,
  tokenLines,
  updateLines,
} from './step-text.ts';
import { tokenPulls } from './token-pulls.ts';

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
  const shares = sharesByOutcome(episodes.filter(({ episode }) => episode.learns !== false));
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
    ...(pulls.size > 0 ? lossNote(new RunSettings(recorded.config)) : []),
    ...updateLines(step, around),
  ];
  print(visibleControls(lines.join('\n')));
  return {
    iteration,
    metrics,
    zeroGradient: zero ?? null,
    learnedRecorded: learned,
    unreadable: unreadable.facts(),
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

const lacking =
  'What the update made of each episode is not recorded (trajectories/learned.jsonl): which groups and tokens carry the gradient is not known.';

/** Pulls are those of the plain policy gradient. */
function lossNote(settings: RunSettings): string[] {
  const type = settings.at('algorithm.loss.type') ?? 'clipped';
  const passes = settings.number('algorithm.epochs', 1);
  if (type === 'clipped' && passes === 1) return [];
  return [
    `  of the first pass, and before what ${settings.now('algorithm.loss.type')} makes of ratios; ${settings.now('algorithm.epochs')}`,
  ];
}
