import { join } from 'node:path';

import { Type } from 'typebox';

import { onlyAgent } from '#agent_rl/core/rollout.ts';
import { user } from '#agent_rl/core/message.ts';
import type { Policy } from '#agent_rl/core/plugins/policy.ts';
import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import type { Batch } from '#agent_rl/core/services/batch.ts';
import type {
  Generation,
  GenerationRequest,
  Generator,
} from '#agent_rl/core/services/generator.ts';
import type { Learner, LearnerInfo, LossMetrics } from '#agent_rl/core/services/learner.ts';
import { WeightBus } from '#agent_rl/core/services/weight-bus.ts';
import type { WeightRef } from '#agent_rl/core/services/weights.ts';
import { RecordingGenerator } from '#agent_rl/generation/recording/recording-generator.ts';
import type { EpisodeParts, EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import { AsyncRolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { JournalWriter } from '#agent_rl/runs/journal/journal-writer.ts';
import { recordedAfter } from '#agent_rl/runs/journal/recorded-rollouts.ts';
import { RunJournal } from '#agent_rl/runs/journal/run-journal.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import { readSegment, segmentsOf } from '#agent_rl/runs/journal/segments.ts';
import { trainGrpo } from '#agent_rl/trainer/train-grpo.ts';
import type { TrainerState, TrainingEvent } from '#agent_rl/trainer/trainer-contracts.ts';
import { optionsWith } from '#tests/support/grpo-trainer-setup.ts';
import { sessionEvent } from '#tests/support/journal.ts';
import { hash, numberOf, SimulatedPolicy } from './simulated-policy.ts';
import type { VirtualClock } from './virtual-clock.ts';

/*
 * A whole run with the real trainer, scheduler, rollouts and journal. Generator, tool, environment and learner are scripted: what
 * they give is a hash of everything it may depend on, so that any mistake in what plays, learns or is taken from the journal
 * changes the weights at the end.
 */

export interface Simulation {
  seed: number;
  lag: 0 | 1;
  /** That the generator samples of at the same time. */
  versionsAtOnce: 1 | 2;
  evaluates: boolean;
  replays: 'from-results' | 'again';
}

const [workers, iterations, tasksPerStep, maxEpisodeTokens] = [3, 3, 2, 24];

/** Other weights give other numbers. */
const logProbOf = (id: number, weights: string): number =>
  Math.fround(-(id + 1) / 100 - (numberOf(hash(weights)) % 1000) / 1e4);

/** What survives a kill, besides the journal: the newest checkpoint. */
export interface Checkpoint {
  state: TrainerState;
  weights: string;
  steps: number;
  /** Published weights by their place. */
  kept: ReadonlyMap<string, string>;
}

interface SessionOptions extends Simulation {
  clock: VirtualClock;
  journal: string;
  broken: string[];
  /** What was drawn and is in the journal. */
  recorded: Set<string>;
  checkpoint: Checkpoint | undefined;
}

/** A process. */
export class Session {
  isDead = false;
  checkpoint: Checkpoint | undefined;
  weights: string;
  steps: number;
  /** What the generator draws from, by version, the newest last. */
  readonly drawn = new Map<number, string>();
  readonly kept = new Map<string, string>();
  #playing = 0;
  #writer: JournalWriter | undefined;
  readonly #ended = new AbortController();
  /** Optimiser steps behind the weights after each iteration. */
  readonly #stepsAfter: number[] = [];

  constructor(private readonly options: SessionOptions) {
    const { checkpoint } = options;
    this.checkpoint = checkpoint;
    this.weights = checkpoint?.weights ?? hash('initial');
    this.steps = checkpoint?.steps ?? 0;
    for (const [place, weights] of checkpoint?.kept ?? []) this.kept.set(place, weights);
    this.#stepsAfter[checkpoint?.state.iteration ?? 0] = this.steps;
  }

  async run(): Promise<string> {
    const { lag, journal: folder, clock, checkpoint } = this.options;
    const damaged = (problem: string) => this.#break(`the journal is damaged: ${problem}`);
    const writer = await JournalWriter.open({ folder, durable: 'process', damaged });
    this.#writer = writer;
    const from = checkpoint?.state.iteration;
    await this.#readRecorded();
    const journal = new RunJournal(writer, await recordedAfter(folder, from, damaged), (text) =>
      this.#break(text),
    );
    journal.write(sessionEvent({ from: from ?? -1 }));
    const generator = new RecordingGenerator(this.#generator());
    generator.recordIn({
      drawn: (key, asked) => {
        const found = journal.drawn(key, asked);
        if (found === undefined && this.options.recorded.has(asked))
          this.#break(`${key.taskId} was drawn again`);
        return found;
      },
      draw: (key, asked, drawn) => {
        const written = journal.draw(key, asked, drawn);
        this.options.recorded.add(asked);
        return written;
      },
    });
    const learner = this.#learner();
    const bus = await WeightBus.connect({
      learner,
      generators: [generator],
      folder: join(folder, 'weights'),
      overlaps: lag > 0,
    });
    const make = (request: EpisodeRequest) => this.#parts(request, new SimulatedPolicy(generator));
    const rollouts = new AsyncRolloutWorker(make, workers);
    const collect: AsyncRolloutWorker['collect'] = (requests, options) =>
      rollouts.collect(requests, { ...options, journal });
    const { state } = await trainGrpo(
      {
        options: {
          ...optionsWith({
            rollout: { tasksPerStep, maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens },
            train: { iterations },
            eval: { before: false, after: false, every: this.options.evaluates ? 2 : 0 },
            checkpoint: { every: 1 + (this.options.seed % 3) },
          }),
          lag,
        },
        from: checkpoint?.state,
        policies: new Map([
          [
            onlyAgent,
            {
              learner,
              weights: {
                versionsAtOnce: bus.versionsAtOnce,
                publish: async (signal) => {
                  const published = await bus.publish(signal);
                  journal.published(published.version, hash(this.weights), onlyAgent);
                  return published;
                },
                use: (kept, signal) => bus.use(kept, signal),
              },
            },
          ],
        ]),
        rollouts: { collect },
        tasks: {
          sizes: [1000],
          tasksAt: (first, count) =>
            Array.from({ length: count }, (_, index) => taskNamed(`t${first + index}`)),
          tasksInstead: () => [],
        },
        evalTasks: [taskNamed('e0'), taskNamed('e1')],
        emit: (event) => this.#heard(event, journal),
        save: async (_, saved) => {
          await clock.sleep();
          if (this.isDead) return never();
          const kept = new Map(this.kept);
          this.checkpoint = {
            state: structuredClone(saved),
            weights: this.weights,
            steps: this.steps,
            kept,
          };
          return { path: '', weightsSha256: '' };
        },
      },
      this.#ended.signal,
    );
    if (state.iteration !== iterations) this.#break(`it ended after ${state.iteration} iterations`);
    // Sealing takes as long as all else.
    if (this.options.seed % 4 === 0) await journal.close();
    return this.weights;
  }

  /** What of it is whole. */
  async #readRecorded(): Promise<void> {
    const { journal, recorded } = this.options;
    recorded.clear();
    for (const segment of segmentsOf(journal))
      for (const { type, data } of await readSegment(segment, (text) => this.#break(text)))
        if (type === 'generation') recorded.add(String(data?.['asked']));
  }

  /** Nothing that it does from now on counts. Its timers end. */
  kill(): void {
    this.isDead = true;
    if (this.#writer !== undefined) this.#writer.write = () => 0;
    this.#ended.abort();
  }

  #break(text: string): void {
    if (this.isDead) return;
    this.options.broken.push(text);
  }

  #heard(event: TrainingEvent, journal: RunJournal): void {
    if (event.type === 'evaluation')
      journal.write({ type: 'evaluation', when: event.when, iteration: event.iteration });
    if (event.type !== 'iteration') return;
    const { iteration, learned, metrics } = event;
    this.#stepsAfter[iteration] = metrics['train/optimizerSteps'] ?? 0;
    const behind = Math.max(0, iteration - 1 - this.options.lag);
    const expected = this.#stepsAfter[behind];
    const tasks = new Set(learned.map(({ rollout }) => rollout.taskId));
    const first = (iteration - 1) * tasksPerStep;
    for (const taskId of [`t${first}`, `t${first + 1}`])
      if (!tasks.has(taskId)) this.#break(`iteration ${iteration} did not play ${taskId}`);
    for (const { rollout, part } of learned) {
      const versions = part.sequences.flatMap(({ spans }) =>
        spans.flatMap(({ version }) => version ?? []),
      );
      if (expected !== undefined && versions.concat(rollout.step).some((one) => one !== expected))
        this.#break(`iteration ${iteration} was drawn by ${versions.join()}, not by ${expected}`);
      const { length } = part.sequences[0]?.tokens ?? [];
      if (length > maxEpisodeTokens) this.#break(`an episode has ${length} tokens`);
      journal.write(learnedEvent({ rollout, part, use: 'trained', advantage: 0, sent: [] }));
    }
    journal.write({ type: 'iteration', when: 'train', iteration });
  }

  #generator(): Generator {
    return {
      describe: async () => ({
        name: 'simulated',
        maxContextTokens: 1000,
        reproducible: true,
        takes: ['folder'],
        versionsAtOnce: this.options.versionsAtOnce,
      }),
      generate: async (request) => this.#draw(request),
      release: () => undefined,
      use: async ({ version, location }) => {
        await this.options.clock.sleep();
        const weights = this.kept.get(location) ?? '';
        keepNewest(this.drawn, [version, weights], this.options.versionsAtOnce);
      },
      close: async () => undefined,
    };
  }

  async #draw(request: GenerationRequest): Promise<Generation> {
    const { tokens, maxTokens, key } = request;
    const newest = [...this.drawn.keys()].at(-1)!;
    const version = this.options.versionsAtOnce === 1 ? newest : (request.version ?? newest);
    const drawn = this.drawn.get(version) ?? 'none';
    const text = hash(drawn, tokens, key);
    await this.options.clock.sleep();
    if (this.isDead) return never();
    if (this.drawn.get(version) !== drawn)
      this.#break('the weights changed while tokens were drawn');
    const wanted = 1 + (numberOf(text) % 9);
    const ids = Array.from(
      { length: Math.min(wanted, maxTokens) },
      (_, index) => numberOf(hash(text, index)) % 100,
    );
    const stop = wanted <= maxTokens ? 'stop-token' : 'max-tokens';
    return { tokens: ids, logProbs: ids.map((id) => logProbOf(id, drawn)), stop, version };
  }

  #parts(request: EpisodeRequest, policy: Policy): EpisodeParts {
    const environment: Environment = {
      start: async () => {
        this.#playing += 1;
        if (this.#playing > workers) this.#break(`${this.#playing} episodes were in flight`);
        await this.options.clock.sleep();
        return [user(request.task.taskId)];
      },
      step: async ({ message }) => {
        await this.options.clock.sleep();
        return { done: message.toolCalls === undefined };
      },
      finish: async () => {
        await this.options.clock.sleep();
        this.#playing -= 1;
        return { outcome: 'completed', success: true, reward: 0, components: {} };
      },
    };
    const tool = async (args: { text: string }) => {
      await this.options.clock.sleep();
      return this.isDead ? never() : { content: hash('tool', args.text) };
    };
    return {
      policy,
      world: worldOfOne(environment),
      replays: this.options.replays,
      tools: new Map([['look', { call: (args: never) => tool(args) }]]),
      toolRunner,
      rewards: [
        {
          name: 'hash',
          weight: 1,
          score: ({ messages }) => (numberOf(hash(messages)) % 5) / 4,
        },
      ],
      invalidCallPenalty: 0,
      limits: { maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens, invalidCallLimit: 3 },
    };
  }

  #learner(): Learner {
    let gradient = '';
    const published = new Map<number, string>();
    const keep = (version: number, weights: string) =>
      keepNewest(published, [version, weights], this.options.versionsAtOnce);
    return {
      describe: async (): Promise<LearnerInfo> => ({
        name: 'simulated',
        parameters: 2,
        trainedParameters: 1,
        publishes: ['folder'],
      }),
      forward: async (tokens, { version }) =>
        tokens.map((sequence) =>
          Float32Array.from(sequence, (id) => logProbOf(id, published.get(version!) ?? '')),
        ),
      keepPublished: async ({ version, location }) => {
        keep(version, this.kept.get(location) ?? '');
      },
      forwardBackward: async ({ data }: Batch): Promise<LossMetrics> => {
        await this.options.clock.sleep();
        const rows = data.map(({ tokens, weights, advantages }) =>
          [tokens, weights, advantages].map((column) => Array.from<number>(column)),
        );
        gradient = hash(rows);
        return {
          loss: 0,
          sums: {},
          logProbs: data.map(({ oldLogProbs }) => oldLogProbs),
          microBatches: 1,
        };
      },
      discardGradients: async () => undefined,
      optimStep: async () => {
        await this.options.clock.sleep();
        this.weights = hash(this.weights, gradient);
        this.steps += 1;
        return {};
      },
      saveState: async () => ({ weightsSha256: '' }),
      loadState: async () => undefined,
      exportWeights: async (): Promise<WeightRef> => {
        const location = `weights of ${this.steps}`;
        this.kept.set(location, this.weights);
        keep(this.steps, this.weights);
        return { version: this.steps, kind: 'folder', location };
      },
      close: async () => undefined,
    };
  }
}

function keepNewest(
  all: Map<number, string>,
  [version, weights]: readonly [number, string],
  most: number,
): void {
  all.delete(version);
  all.set(version, weights);
  const [oldest] = all.keys();
  if (all.size > most) all.delete(oldest!);
}

const never = (): Promise<never> => new Promise(() => undefined);

const taskNamed = (taskId: string) => ({ taskId, prompt: '', metadata: {} });

const toolRunner = new ToolRunner([
  {
    name: 'look',
    description: 'Looks',
    parameters: Type.Object({ text: Type.String() }),
    onInterrupt: 'repeat',
  },
]);
