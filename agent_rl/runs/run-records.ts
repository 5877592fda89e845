import { join } from 'node:path';

import { messageOf } from '../core/errors.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { sampledTokens } from '../rollout/tokens/ledger.ts';
import { JsonlWriter, type Log, MetricsWriter } from '../telemetry/index.ts';
import type { Subscriber, TrainingEvent } from '../trainer/trainer-contracts.ts';
import { learnedLine } from './episodes/learned-line.ts';
import { trajectoryLine } from './episodes/trajectory-line.ts';
import { writeEvaluation } from './episodes/write-evaluation.ts';
import { rateText } from './evaluation-table.ts';
import { failedText, failureReporter } from './failed-episodes.ts';
import type { RunFolder } from './run-folder.ts';

export interface RunRecordsOptions {
  folder: RunFolder;
  log: Log;
  /** One log line per rollout. */
  logRollouts: boolean;
}

/** Writes what a run of reinforcement learning does: metrics, trajectories and log lines. */
export class RunRecords {
  readonly #metrics: MetricsWriter;
  readonly #trajectories: JsonlWriter;
  readonly #learned: JsonlWriter;
  readonly #reportFailure: (trajectory: Trajectory) => void;

  constructor(private readonly options: RunRecordsOptions) {
    const { folder, log } = options;
    this.#reportFailure = failureReporter((text) => log.warn(text));
    this.#metrics = new MetricsWriter(folder.metrics);
    this.#trajectories = new JsonlWriter(join(folder.trajectories, 'train.jsonl'));
    this.#learned = new JsonlWriter(join(folder.trajectories, 'learned.jsonl'));
  }

  readonly on: Subscriber = (event) => {
    const { folder, log } = this.options;
    if (event.type === 'rollout' || event.type === 'evaluation-rollout')
      for (const trajectory of event.rollout) this.#report(trajectory);
    if (event.type === 'iteration') this.#writeIteration(event);
    if (event.type === 'evaluation') {
      const { when, iteration, evaluation } = event;
      writeEvaluation(folder, event);
      log.info(`Evaluation ${when} iteration ${iteration}: ${rateText(evaluation)}`);
      this.#warnOfFailed(`Evaluation ${when} iteration ${iteration}`, evaluation.trajectories);
    }
    if (event.type === 'state-lost') log.error(lostText(event.problem));
  };

  close(): void {
    this.#metrics.close();
    this.#trajectories.close();
    this.#learned.close();
  }

  #writeIteration({
    iteration,
    metrics,
    learned,
  }: Extract<TrainingEvent, { type: 'iteration' }>): void {
    this.#metrics.write(iteration, metrics);
    for (const one of learned) {
      const { name } = this.options.folder;
      this.#trajectories.write({ iteration, ...trajectoryLine(name, one.trajectory) });
      this.#learned.write({ iteration, ...learnedLine(one) });
    }
    this.#trajectories.flush();
    this.#learned.flush();
    const trajectories = learned.map(({ trajectory }) => trajectory);
    this.#warnOfFailed(`Iteration ${iteration}`, trajectories);
  }

  #warnOfFailed(where: string, trajectories: readonly Trajectory[]): void {
    const failed = failedText(trajectories);
    if (failed !== undefined) this.options.log.warn(`${where}: ${failed}`);
  }

  #report(trajectory: Trajectory): void {
    this.#reportFailure(trajectory);
    if (this.options.logRollouts)
      this.options.log.info(rolloutText(trajectory), rolloutFacts(trajectory));
  }
}

/** What a failure lost. */
export const lostText = (problem: unknown): string =>
  `${
    problem === undefined
      ? 'The failure came after the weights had moved and before their iteration was recorded, so no checkpoint of it is written'
      : `No checkpoint could be written after the failure: ${messageOf(problem)}`
  }. What was done since the newest checkpoint is lost; a resume does it again.`;

const rolloutText = ({ taskId, sample, agent, outcome, reward }: Trajectory): string =>
  `rollout ${taskId} #${sample}${agent === undefined ? '' : ` ${agent}`} ${outcome} reward ${reward ?? 'absent'}`;

const rolloutFacts = (trajectory: Trajectory) => ({
  components: trajectory.components,
  turns: trajectory.turns,
  calls: trajectory.calls.map(({ call, status }) => `${call.name}:${status}`),
  sampledTokens: sampledTokens(trajectory),
  problem: trajectory.problem,
});
