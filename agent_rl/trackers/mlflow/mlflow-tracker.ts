import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Given } from '../../core/plugins/given.ts';
import {
  type TrackedEvent,
  type Tracker,
  tracker,
  type TrackerNote,
} from '../../core/plugins/tracker.ts';
import type { TrackedMetrics, TrackedRun } from '../../core/run-event.ts';
import { HttpClient } from '../../http/http-client.ts';
import { writeFileAtomic } from '../../telemetry/index.ts';
import { RecordedSteps } from '../recorded-steps.ts';
import { MlflowClient, type MlflowMetric } from './mlflow-client.ts';
import type { MlflowRun } from './mlflow-answers.ts';
import { MlflowNames } from './mlflow-names.ts';
import { paramsOf } from './mlflow-params.ts';
import { accessOf, MlflowSettings } from './mlflow-settings.ts';

/** Tells a run that a crash left without its id from all others. */
const keyTag = 'agent_rl.key';

/** What the run's folder keeps, to continue with. */
interface Kept {
  /** Chosen before the run is made in MLflow. */
  key: string;
  /** Its id there. */
  run?: string;
}

const statuses = { finished: 'FINISHED', interrupted: 'KILLED', failed: 'FAILED' } as const;

/**
 * Records a run in MLflow by its REST API: settings as parameters, every metric, the newest checkpoint as tags. A resumed run
 * goes on in the same run of MLflow, whose metrics and parameters cannot be changed: what is done again stays as it was
 * recorded first.
 */
@tracker({
  name: 'mlflow',
  description: 'Logs to an MLflow run over the REST API: settings, metrics, checkpoints, summary',
  settings: MlflowSettings,
})
export class MlflowTracker implements Tracker {
  readonly #settings: MlflowSettings;
  readonly #client: MlflowClient;
  readonly #names = new MlflowNames();
  readonly #recorded = new RecordedSteps();
  readonly #notes: string[] = [];
  #session: { run: TrackedRun; time: number } | undefined;
  #run: MlflowRun | undefined;

  /** @throws AgentRlError `CONFIG_INVALID` */
  constructor({ settings }: Pick<Given<MlflowSettings>, 'settings'>) {
    this.#settings = settings;
    const access = accessOf(settings);
    const http = new HttpClient({
      ...access,
      connections: 1,
      pauseMs: 100,
      onRetry: (message) => this.#notes.push(message),
    });
    this.#client = new MlflowClient(http, access.url);
  }

  async track(event: TrackedEvent, signal: AbortSignal): Promise<TrackerNote> {
    if (event.type === 'start') this.#session = { run: event.run, time: event.time };
    if (this.#session === undefined) throw new Error('No start event was received');
    // Where the server could not be reached before, it is asked again.
    this.#run ??= await this.#open(this.#session, signal);
    await this.#record(this.#run, event, signal);
    return this.#said();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #record(run: MlflowRun, event: TrackedEvent, signal: AbortSignal): Promise<void> {
    switch (event.type) {
      case 'iteration':
      case 'evaluation': {
        const { iteration: step, metrics, time } = event;
        return this.#logMetrics(run, { step, time }, metrics, signal);
      }
      case 'checkpoint': {
        const tags = [
          { key: 'agent_rl.checkpoint', value: event.path },
          { key: 'agent_rl.weightsSha256', value: event.weightsSha256 },
        ];
        return this.#client.log(run, { tags }, signal);
      }
      case 'summary': {
        const text = JSON.stringify(event.summary, null, 1);
        return this.#upload(run, { name: 'summary.json', text }, signal);
      }
      case 'end': {
        const state = { status: statuses[event.status], end_time: event.time };
        return this.#client.update(run, state, signal);
      }
      case 'start': {
        const text = stringify(event.run.config);
        return this.#upload(run, { name: 'config.yaml', text }, signal);
      }
    }
  }

  /** The run in MLflow, new or gone on with. */
  async #open({ run, time }: { run: TrackedRun; time: number }, signal: AbortSignal) {
    const file = join(run.folder, 'trackers', 'mlflow.json');
    const experiment = await this.#client.experiment(this.#settings.experiment, signal);
    const found = await this.#earlier(file, experiment, signal);
    const kept: Kept = { key: found?.key ?? randomUUID() };
    // Before it is made: a crash in between leaves a run that is found by its key.
    if (found === undefined) writeFileAtomic(file, JSON.stringify(kept));
    const name = run.name;
    const tags = [
      { key: keyTag, value: kept.key },
      { key: 'agent_rl.folder', value: run.folder },
    ];
    const opened =
      found?.run ?? (await this.#client.create({ experiment, name, time, tags }, signal));
    writeFileAtomic(file, JSON.stringify({ ...kept, run: opened.id } satisfies Kept));
    for (const [metric, step] of opened.metrics) this.#recorded.add(step, [metric]);
    if (found?.run !== undefined) await this.#client.update(opened, { status: 'RUNNING' }, signal);
    await this.#logParams(opened, run.config, signal);
    const last = opened.metrics.reduce((most, [, step]) => Math.max(most, step), -1);
    const { from = -1 } = run;
    if (last > from)
      this.#notes.push(
        `the run repeats iterations from ${from + 1} on, but MLflow keeps the metrics recorded first, up to iteration ${last}`,
      );
    return opened;
  }

  /** What an earlier session, or an earlier try of this one, began. */
  async #earlier(file: string, experiment: string, signal: AbortSignal) {
    if (!existsSync(file)) return undefined;
    const { key, run: id } = JSON.parse(readFileSync(file, 'utf8')) as Kept;
    const run =
      id === undefined
        ? await this.#client.runTagged(experiment, { key: keyTag, value: key }, signal)
        : await this.#client.run(id, signal);
    if (run !== undefined && !run.deleted) return { key, run };
    if (id === undefined) return { key, run: undefined };
    this.#notes.push(`the run ${id} is no longer in MLflow; starting a new one`);
    return undefined;
  }

  async #logMetrics(
    run: MlflowRun,
    { step, time: timestamp }: { step: number; time: number },
    metrics: TrackedMetrics,
    signal: AbortSignal,
  ): Promise<void> {
    const named = Object.entries(metrics).map(([name, value]) => [this.#names.of(name), value]);
    const fresh = this.#recorded.fresh(step, Object.fromEntries(named) as TrackedMetrics);
    const logged = fresh.map(([key, value]) => ({ key, value: inJson(value), timestamp, step }));
    await this.#client.log(run, { metrics: logged }, signal);
    this.#recorded.add(
      step,
      fresh.map(([key]) => key),
    );
    const infinite = fresh.filter(([, value]) => Math.abs(value) === Infinity);
    for (const [key] of infinite)
      this.#notes.push(`${JSON.stringify(key)} is infinite, which MLflow stores as 1.8e308`);
  }

  async #logParams(run: MlflowRun, config: TrackedRun['config'], signal: AbortSignal) {
    const { params, notes } = paramsOf(config);
    for (const note of notes) this.#notes.push(note);
    const before = ({ key }: { key: string }) => run.params.get(key);
    await this.#client.log(
      run,
      { params: params.filter((one) => before(one) === undefined) },
      signal,
    );
    const changed = params.filter((one) => (before(one) ?? one.value) !== one.value);
    for (const { key } of changed)
      this.#notes.push(`${key} has changed, but MLflow keeps the first value of a parameter`);
  }

  async #upload(run: MlflowRun, file: { name: string; text: string }, signal: AbortSignal) {
    if (this.#settings.artifacts) await this.#client.upload(run, file, signal);
  }

  #said(): TrackerNote {
    const said = [...this.#notes.splice(0), ...this.#names.takeChanges()];
    return said.length === 0 ? undefined : said.join('; ');
  }
}

/** Protocol buffers' JSON has words for what is not in JSON. */
const inJson = (value: number): MlflowMetric['value'] =>
  Number.isFinite(value) ? value : (String(value) as 'NaN' | 'Infinity' | '-Infinity');
