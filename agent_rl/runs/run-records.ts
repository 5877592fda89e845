import { messageOf } from '../core/errors.ts';
import { keyText, type Member, membersOf, type Rollout, sampledTokens } from '../core/rollout.ts';
import { type Log, MetricsWriter } from '../telemetry/index.ts';
import { rolloutsOf } from '../trainer/collect/collection.ts';
import type { Subscriber, TrainingEvent } from '../trainer/trainer-contracts.ts';
import { rateText } from './evaluation-table.ts';
import { failedText, failureReporter } from './failed-episodes.ts';
import type { RunFolder } from './run-folder.ts';

export interface RunRecordsOptions {
  folder: RunFolder;
  log: Log;
  /** One log line per rollout. */
  logRollouts: boolean;
}

/** Writes what a run of reinforcement learning does, but for its journal: metrics and log lines. */
export class RunRecords {
  readonly #metrics: MetricsWriter;
  readonly #reportFailure: (rollout: Rollout) => void;

  constructor(private readonly options: RunRecordsOptions) {
    const { folder, log } = options;
    this.#reportFailure = failureReporter((text) => log.warn(text));
    this.#metrics = new MetricsWriter(folder.metrics);
  }

  readonly on: Subscriber = (event) => {
    const { log } = this.options;
    if (event.type === 'rollout' || event.type === 'evaluation-rollout')
      this.#report(event.rollout);
    if (event.type === 'iteration') this.#writeIteration(event);
    if (event.type === 'evaluation') {
      const { when, iteration, evaluation } = event;
      log.info(`Evaluation ${when} iteration ${iteration}: ${rateText(evaluation)}`);
      this.#warnOfFailed(`Evaluation ${when} iteration ${iteration}`, evaluation.rollouts);
    }
    if (event.type === 'state-lost') log.error(lostText(event.problem));
  };

  close(): void {
    this.#metrics.close();
  }

  #writeIteration({
    iteration,
    metrics,
    learned,
  }: Extract<TrainingEvent, { type: 'iteration' }>): void {
    this.#metrics.write(iteration, metrics);
    this.#warnOfFailed(`Iteration ${iteration}`, rolloutsOf(learned));
  }

  #warnOfFailed(where: string, rollouts: readonly Rollout[]): void {
    const failed = failedText(rollouts);
    if (failed !== undefined) this.options.log.warn(`${where}: ${failed}`);
  }

  #report(rollout: Rollout): void {
    this.#reportFailure(rollout);
    if (this.options.logRollouts)
      for (const member of membersOf(rollout))
        this.options.log.info(partText(member), partFacts(member));
  }
}

/** What a failure lost. */
export const lostText = (problem: unknown): string =>
  `${
    problem === undefined
      ? 'The run failed after an update but before the update was recorded, so no checkpoint was written'
      : `No checkpoint could be written after the failure: ${messageOf(problem)}`
  }. Progress since the newest checkpoint is lost; a resume repeats it.`;

const partText = ({ rollout, part }: Member): string => {
  const { taskId, key, parts } = rollout;
  const own = parts.length > 1 ? ` ${part.agent}` : '';
  return `rollout ${keyText(key)}${own} of ${taskId} ${part.outcome} reward ${part.reward ?? 'absent'}`;
};

const partFacts = ({ rollout, part }: Member) => ({
  components: part.components,
  turns: part.turns,
  calls: part.calls.map(({ call, status }) => `${call.name}:${status}`),
  sampledTokens: sampledTokens(part),
  problem: rollout.problem,
});
