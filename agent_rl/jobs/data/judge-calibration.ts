import PQueue from 'p-queue';

import { type Calibration, calibrationOf } from '../../algorithms/calibration.ts';
import type { ChosenReward } from '../../compose/plugins/choose-plugins.ts';
import type { Scoring } from '../../compose/episode-maker.ts';
import { construct, runContainer } from '../../compose/plugins/container.ts';
import { AgentRlError, messageOf, runEndingError } from '../../core/errors.ts';
import { PluginError } from '../../core/failure.ts';
import { type EpisodeView, type RewardFunction, scoreOf } from '../../core/plugins/reward.ts';
import { runningPlugin } from '../../core/plugins/plugin-failure.ts';
import { abortableStart, inTime } from '../../core/stopping/abort.ts';
import { redactor, visibleControls } from '../../telemetry/index.ts';
import type { CheckResult, JobOptions } from '../job.ts';
import { type InputRow, InputRows } from '../token-files/input-rows.ts';
import { type LabelledEpisode, parseLabelled, readLabelledEpisode } from './judge-labels.ts';

export interface JudgeCalibrationOptions extends JobOptions {
  /** JSONL file of labelled episodes. */
  labels: string;
  /** The reward of the run file to compare, by its name there; the only `model_judge` by default. */
  reward?: string;
}

/** What became of a line of the labels. Absent scores did not apply or failed. */
interface ScoredLine {
  line: number;
  label: number;
  score?: number | undefined;
  problem?: string;
}

/** Requests at once. */
const concurrency = 8;
const mostShown = 5;

/**
 * Compares a reward with labels that people gave: how often it is on their side, how it correlates with them, and on which
 * lines it is furthest from them. Lines it fails on, or does not apply to, are counted apart; any makes the result not ok.
 *
 * @throws AgentRlError `CONFIG_INVALID`, `DATASET_INVALID`, and what ends a run, such as `WEB_BUDGET_SPENT`
 */
export async function judgeCalibration(options: JudgeCalibrationOptions): Promise<CheckResult> {
  const { labels, print, signal } = options;
  const chosen = chosenReward(options);
  const rows = new InputRows(labels, readLabelledEpisode(), undefined, parseLabelled);
  const episodes: EpisodeView[] = [];
  await abortableStart(
    rows.check(({ episode }) => episodes.push(episode)),
    signal,
  );
  const { spec } = chosen.entry;
  const { settings } = chosen;
  const tasks = episodes.map(({ task }) => task);
  const shared = await spec.open?.(settings, { environment: process.env, tasks });
  try {
    const scorer = construct<Scoring>(runContainer(), { ...chosen, shared }, 'score');
    const score = (episode: EpisodeView) => scorer.score(episode);
    const lines = await scoredLines(rows, { score, options });
    signal.throwIfAborted();
    const calibration = calibrationOf(
      lines.flatMap(({ label, score: given }) =>
        given === undefined ? [] : [{ label, score: given }],
      ),
    );
    const failed = lines.filter(({ problem }) => problem !== undefined);
    const notApplied = lines.length - calibration.n - failed.length;
    const report = shared?.report?.() ?? {};
    print(calibrationText(chosen.name, { calibration, failed: failed.length, notApplied }));
    for (const text of furthest(lines)) print(text);
    for (const { line, problem } of failed.slice(0, mostShown))
      print(`  line ${line} failed: ${visibleControls(problem ?? '')}`);
    const ok = failed.length === 0 && notApplied === 0;
    return {
      ok,
      reward: chosen.name,
      ...calibration,
      failed: failed.length,
      notApplied,
      report,
      lines,
    };
  } finally {
    await shared?.close();
  }
}

/** @throws AgentRlError `CONFIG_INVALID` when it is not clear which reward is meant */
function chosenReward({ chosen, reward }: JudgeCalibrationOptions): ChosenReward {
  const found = chosen.rewards.filter(({ name, entry }) =>
    reward === undefined ? entry.spec.name === 'model_judge' : name === reward,
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = chosen.rewards.map(({ name }) => name).join(', ') || 'none';
  const wanted =
    reward === undefined
      ? `the run file has ${found.length} rewards of type model_judge`
      : `the run file has no reward named ${JSON.stringify(reward)}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The reward to compare is not clear: ${wanted}. Rewards of the run file: ${names}. Name one with --reward.`,
  );
}

interface ScoringLines {
  score: (episode: EpisodeView) => ReturnType<RewardFunction>;
  options: JudgeCalibrationOptions;
}

async function scoredLines(
  rows: InputRows<LabelledEpisode>,
  { score, options }: ScoringLines,
): Promise<ScoredLine[]> {
  const { loaded, signal } = options;
  const { gradingS: seconds } = loaded.config.rollout.deadlines;
  const late = new PluginError(`It took longer than ${seconds} s (rollout.deadlines.gradingS).`);
  const queue = new PQueue({ concurrency });
  const scored = async ({ line, row }: InputRow<LabelledEpisode>): Promise<ScoredLine> => {
    const { label, episode } = row;
    try {
      const work = async () => runningPlugin('Reward', () => score(episode));
      const given = await inTime(work, { seconds, signal, late });
      return { line, label, score: scoreOf(given) };
    } catch (thrown) {
      const ending = runEndingError(thrown);
      if (ending !== undefined) throw ending;
      return { line, label, problem: redactor()(messageOf(thrown)) };
    }
  };
  const all: Promise<ScoredLine>[] = [];
  for await (const row of rows) all.push(queue.add(() => scored(row)));
  return Promise.all(all);
}

const shown = (value: number | null): string => (value === null ? 'unknown' : value.toFixed(3));
const range = ([low, high]: readonly [number, number]): string =>
  `${low.toFixed(3)} to ${high.toFixed(3)}`;

function calibrationText(
  reward: string,
  {
    calibration,
    failed,
    notApplied,
  }: { calibration: Calibration; failed: number; notApplied: number },
): string {
  const { n, accuracy, accuracy95, majorityAccuracy, correlation, correlation95 } = calibration;
  const { meanDifference, meanAbsoluteDifference } = calibration;
  return [
    `Reward ${reward} against ${n} labels (${failed} failed, ${notApplied} not applicable)`,
    `  accuracy            ${shown(accuracy)} (95 %: ${range(accuracy95)}); baseline, always the more frequent label: ${shown(majorityAccuracy)}`,
    `  correlation         ${shown(correlation)}${correlation95 === null ? '' : ` (95 %: ${range(correlation95)})`}`,
    `  score minus label   ${shown(meanDifference)} on average, ${shown(meanAbsoluteDifference)} if the sign is ignored`,
  ].join('\n');
}

/** Lines whose score is on the other side than their label, the furthest first. */
const furthest = (lines: readonly ScoredLine[]): string[] =>
  lines
    .flatMap(({ line, label, score }) => (score === undefined ? [] : [{ line, label, score }]))
    .filter(({ label, score }) => label >= 0.5 !== score >= 0.5)
    .toSorted((a, b) => Math.abs(b.score - b.label) - Math.abs(a.score - a.label))
    .slice(0, mostShown)
    .map(({ line, label, score }) => `  line ${line}: label ${label}, score ${score.toFixed(3)}`);
