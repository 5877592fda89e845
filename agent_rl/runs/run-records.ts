import { join } from 'node:path';

import type { Trajectory } from '../core/trajectory.ts';
import { sampledTokens } from '../rollout/ledger.ts';
import {
  createProgress,
  JsonlWriter,
  type Log,
  type LiveNumbers,
  type Metrics,
  MetricsWriter,
  type ProcessTreeMemory,
  type Progress,
} from '../telemetry/index.ts';
import { failedText, failureReporter } from './failed-episodes.ts';
import type { RunFolder } from './run-folder.ts';
import { type Evaluation, evaluationMetrics, selectionMetrics } from '../trainer/evaluate.ts';
import { rateText } from './evaluation-table.ts';
import type { EvaluationTime, TrainerObserver } from '../trainer/trainer-contracts.ts';
import type { LearnedEpisode } from '../trainer/learned-episodes.ts';
import { type AdvisedRun, iterationAdvice } from './iteration-advice.ts';
import { type RunTrackers, trackedMetrics } from './trackers/run-trackers.ts';
import { learnedLine } from './episodes/learned-line.ts';
import { trajectoryLine } from './episodes/trajectory-line.ts';

export interface RunRecordsOptions {
  folder: RunFolder;
  log: Log;
  memory: ProcessTreeMemory;
  iterations: number;
  /** One log line per rollout. */
  logRollouts: boolean;
  advised?: AdvisedRun;
  trackers?: Pick<RunTrackers, 'tell'>;
}

/** Writes what a run does: metrics, trajectories, log lines and the progress bar. */
export class RunRecords implements TrainerObserver {
  readonly #metrics: MetricsWriter;
  readonly #trajectories: JsonlWriter;
  readonly #learned: JsonlWriter;
  readonly #evaluations: JsonlWriter;
  readonly #advised = new Set<string>();
  readonly #reportFailure: (trajectory: Trajectory) => void;
  #bar: Progress | undefined;
  #label: 'train' | 'eval' | undefined;
  /** When a bar last moved: the work of the next one began then, though it is drawn only when some of it is done. */
  #since = performance.now();
  #evalDone = 0;

  constructor(private readonly options: RunRecordsOptions) {
    const { folder, log } = options;
    this.#reportFailure = failureReporter((text) => log.warn(text));
    this.#metrics = new MetricsWriter(folder.metrics);
    this.#trajectories = new JsonlWriter(join(folder.trajectories, 'train.jsonl'));
    this.#learned = new JsonlWriter(join(folder.trajectories, 'learned.jsonl'));
    this.#evaluations = new JsonlWriter(join(folder.trajectories, 'eval.jsonl'));
  }

  onEpisode = (episode: readonly Trajectory[]): void => {
    for (const trajectory of episode) {
      this.#reportFailure(trajectory);
      if (this.options.logRollouts)
        this.options.log.info(rolloutText(trajectory), rolloutFacts(trajectory));
    }
  };

  onEvaluationEpisode = (episode: readonly Trajectory[], episodes: number): void => {
    this.onEpisode(episode);
    this.#evalDone += 1;
    if (this.#evalDone % 50 === 0 || this.#evalDone === episodes)
      this.#barFor('eval', episodes, 0).update(this.#evalDone);
  };

  onIteration = (
    iteration: number,
    metrics: Metrics,
    episodes: readonly LearnedEpisode[],
  ): void => {
    const trajectories = episodes.map(({ trajectory }) => trajectory);
    const { folder, iterations, log, memory } = this.options;
    const line = { ...metrics, 'system/peakRssBytes': memory.peak.peakRssBytes };
    this.#metrics.write(iteration, line);
    for (const trajectory of trajectories)
      this.#trajectories.write({ iteration, ...trajectoryLine(folder.name, trajectory) });
    for (const episode of episodes) this.#learned.write({ iteration, ...learnedLine(episode) });
    this.#trajectories.flush();
    this.#learned.flush();
    const failed = failedText(trajectories);
    if (failed !== undefined) log.warn(`Iteration ${iteration}: ${failed}`);
    this.options.trackers?.tell({ type: 'iteration', iteration, metrics: trackedMetrics(line) });
    this.#advise(iteration, metrics);
    this.#barFor('train', iterations, iteration - 1).update(iteration, liveNumbers(metrics));
  };

  onEvaluation = (when: EvaluationTime, iteration: number, evaluation: Evaluation): void => {
    const { folder, log } = this.options;
    this.#stopBar();
    this.#since = performance.now();
    this.#evalDone = 0;
    for (const trajectory of evaluation.trajectories) {
      this.#evaluations.write({ when, iteration, ...trajectoryLine(folder.name, trajectory) });
    }
    this.#evaluations.flush();
    log.info(`Evaluation ${when} iteration ${iteration}: ${rateText(evaluation)}`);
    const metrics = trackedMetrics(
      (when === 'selection' ? selectionMetrics : evaluationMetrics)(evaluation),
    );
    this.options.trackers?.tell({ type: 'evaluation', when, iteration, metrics });
    const failed = failedText(evaluation.trajectories);
    if (failed !== undefined) log.warn(`Evaluation ${when} iteration ${iteration}: ${failed}`);
  };

  close(): void {
    this.#stopBar();
    this.#metrics.close();
    this.#trajectories.close();
    this.#learned.close();
    this.#evaluations.close();
  }

  #advise(iteration: number, metrics: Metrics): void {
    for (const { about, text } of iterationAdvice(metrics, this.options.advised)) {
      if (this.#advised.has(about)) continue;
      this.#advised.add(about);
      this.options.log.warn(`Iteration ${iteration}: ${text}`);
    }
  }

  /** One bar at a time; a new one takes over where another kind of work begins. */
  #barFor(label: 'train' | 'eval', total: number, from: number): Progress {
    if (this.#label !== label) this.#stopBar();
    this.#label = label;
    this.#bar ??= createProgress({ label, total, from, since: this.#since });
    this.#since = performance.now();
    return this.#bar;
  }

  #stopBar(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

const liveNumbers = (metrics: Metrics): LiveNumbers => ({
  reward: metrics['rollout/rewardMean'],
  success: metrics['rollout/successRate'],
  failed: metrics['rollout/failedShare'],
  toolCallRate: metrics['rollout/toolCallRate'],
  tokensPerSecond: metrics['speed/decodeTokensPerSecond'],
});

const rolloutText = ({ taskId, sample, agent, outcome, reward }: Trajectory): string =>
  `rollout ${taskId} #${sample}${agent === undefined ? '' : ` ${agent}`} ${outcome} reward ${reward ?? 'absent'}`;

const rolloutFacts = (trajectory: Trajectory) => ({
  components: trajectory.components,
  turns: trajectory.turns,
  calls: trajectory.calls.map(({ call, status }) => `${call.name}:${status}`),
  sampledTokens: sampledTokens(trajectory),
  ...(trajectory.problem !== undefined && { problem: trajectory.problem }),
});
