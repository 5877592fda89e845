import { join } from 'node:path';

import { membersOf, type Member, type Rollout, sampledTokens } from '../core/rollout.ts';
import {
  type Display,
  JsonlWriter,
  type Log,
  type Metrics,
  MetricsWriter,
  type ProcessTreeMemory,
} from '../telemetry/index.ts';
import { openTrainingDisplay } from './display/open-training-display.ts';
import type { TrainingDisplay } from './display/training-display.ts';
import { failedText, failureReporter } from './failed-episodes.ts';
import type { RunFolder } from './run-folder.ts';
import { type Evaluation, evaluationMetrics, selectionMetrics } from '../trainer/evaluate.ts';
import { rateText } from './evaluation-table.ts';
import type {
  EvaluationTime,
  TrainerObserver,
  TrainerPhase,
} from '../trainer/trainer-contracts.ts';
import { rolloutsOf } from '../trainer/collect/collection.ts';
import type { LearnedPart } from '../trainer/learned-parts.ts';
import { RunWatch, warningText, type WatchedRun } from './signs/run-watch.ts';
import { type RunTrackers, trackedMetrics } from './trackers/run-trackers.ts';
import { learnedLine } from './episodes/learned-line.ts';
import type { RecordedPart } from './query/parts.ts';
import { trajectoryLine } from './episodes/trajectory-line.ts';
import { writeEvaluation } from './episodes/write-evaluation.ts';

export interface RunRecordsOptions {
  folder: RunFolder;
  log: Log;
  memory: ProcessTreeMemory;
  iterations: number;
  /** Until the run ends; undefined while nothing is measured. */
  secondsLeft: () => number | undefined;
  /** One log line per rollout. */
  logRollouts: boolean;
  /** What its warnings depend on. */
  watched: WatchedRun;
  trackers?: Pick<RunTrackers, 'tell'>;
  /** How its progress is shown. */
  display?: Display;
}

/** Writes what a run does: metrics, trajectories, log lines and its progress. */
export class RunRecords implements TrainerObserver {
  readonly #metrics: MetricsWriter;
  readonly #trajectories: JsonlWriter;
  readonly #learned: JsonlWriter;
  readonly #watch: RunWatch;
  readonly #reportFailure: (rollout: Rollout) => void;
  readonly #display: TrainingDisplay;
  #evalDone = 0;

  constructor(private readonly options: RunRecordsOptions) {
    const { folder, log, iterations, secondsLeft, display } = options;
    const { name } = folder;
    this.#display = openTrainingDisplay({ ...display, name, iterations, secondsLeft });
    this.#watch = new RunWatch(options.watched);
    this.#reportFailure = failureReporter((text) => log.warn(text));
    this.#metrics = new MetricsWriter(folder.metrics);
    this.#trajectories = new JsonlWriter(join(folder.trajectories, 'train.jsonl'));
    this.#learned = new JsonlWriter(join(folder.trajectories, 'learned.jsonl'));
  }

  onPhase = (phase: TrainerPhase): void => this.#display.onPhase(phase);

  onEpisode = (rollout: Rollout): void => {
    this.#report(rollout);
    this.#display.onEpisode();
  };

  onEvaluationEpisode = (rollout: Rollout, episodes: number): void => {
    this.#report(rollout);
    this.#evalDone += 1;
    this.#display.onEvaluationEpisode(this.#evalDone, episodes);
  };

  onIteration = (iteration: number, metrics: Metrics, parts: readonly LearnedPart[]): void => {
    const { log, memory } = this.options;
    const line = { ...metrics, 'system/peakRssBytes': memory.peak.peakRssBytes };
    this.#metrics.write(iteration, line);
    const recorded = parts.map((part) => ({
      episode: trajectoryLine(part),
      learned: learnedLine(part),
    }));
    for (const { episode, learned } of recorded) {
      this.#trajectories.write(episode);
      this.#learned.write(learned);
    }
    this.#trajectories.flush();
    this.#learned.flush();
    const failed = failedText(rolloutsOf(parts));
    if (failed !== undefined) log.warn(`Iteration ${iteration}: ${failed}`);
    this.options.trackers?.tell({ type: 'iteration', iteration, metrics: trackedMetrics(line) });
    const finding = this.#watch.note(iteration, metrics, recorded as unknown as RecordedPart[]);
    if (finding !== undefined) log.warn(`Iteration ${iteration}: ${warningText(finding)}`);
    this.#display.onIteration(iteration, metrics);
  };

  onEvaluation = (when: EvaluationTime, iteration: number, evaluation: Evaluation): void => {
    const { folder, log } = this.options;
    this.#display.onEvaluation();
    this.#evalDone = 0;
    writeEvaluation(folder, evaluation);
    log.info(`Evaluation ${when} iteration ${iteration}: ${rateText(evaluation)}`);
    const metrics = trackedMetrics(
      (when === 'selection' ? selectionMetrics : evaluationMetrics)(evaluation),
    );
    this.options.trackers?.tell({ type: 'evaluation', when, iteration, metrics });
    const failed = failedText(evaluation.rollouts);
    if (failed !== undefined) log.warn(`Evaluation ${when} iteration ${iteration}: ${failed}`);
  };

  close(): void {
    this.#display.close();
    this.#metrics.close();
    this.#trajectories.close();
    this.#learned.close();
  }

  #report(rollout: Rollout): void {
    this.#reportFailure(rollout);
    if (this.options.logRollouts)
      for (const member of membersOf(rollout))
        this.options.log.info(partText(member), partFacts(member));
  }
}

const partText = ({ rollout, part }: Member): string => {
  const { taskId, key, parts } = rollout;
  const own = parts.length > 1 ? ` ${part.agent}` : '';
  return `rollout ${taskId} #${key.sample}${own} ${part.outcome} reward ${part.reward ?? 'absent'}`;
};

const partFacts = ({ rollout, part }: Member) => ({
  components: part.components,
  turns: part.turns,
  calls: part.calls.map(({ call, status }) => `${call.name}:${status}`),
  sampledTokens: sampledTokens(part),
  problem: rollout.problem,
});
