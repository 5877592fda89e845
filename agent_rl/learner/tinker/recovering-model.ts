import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../../core/errors.ts';
import type { OptimStepOptions } from '../../core/services/learner.ts';
import type { ForwardBackwardOutput } from '../../tinker/messages.ts';
import { Lost } from '../../tinker/tinker-client.ts';
import type { TinkerSession } from '../../tinker/tinker-session.ts';
import { type CreateOptions, type Pass, TrainedModel, noStep } from './trained-model.ts';

/** What changed a model since it was saved. */
type Change = { pass: Pass } | { step: OptimStepOptions };

/**
 * A model at the service whose orders are each done once, whatever is lost. After a lost answer it is unknown
 * whether a gradient was added: a new model is made from the state that was saved last, and what changed it since is sent again.
 * The state is saved after each step, so that this is at most one step.
 */
export class RecoveringModel {
  /** Since the state was saved. */
  #changes: Change[] = [];
  /** The model may be another than the saved state with the changes since: it is restored before the next order. */
  #isUnknown = false;
  #names = 0;
  #last: Promise<unknown> = Promise.resolve();
  #steps = 0;

  private constructor(
    private readonly session: TinkerSession,
    private readonly options: Omit<CreateOptions, 'from'>,
    private model: TrainedModel,
    /** Address of the state that was saved last, and its name where it is to be forgotten with the next. */
    private saved: { address: string; forget?: () => void },
  ) {}

  static async create(
    session: TinkerSession,
    { from, ...options }: CreateOptions,
  ): Promise<RecoveringModel> {
    const model = await repeated(session, 'create an adapter', () =>
      TrainedModel.create(session, { ...options, from }),
    );
    const one = new RecoveringModel(session, options, model, { address: from ?? '' });
    if (from === undefined) await one.#saveState();
    return one;
  }

  get adapter(): TrainedModel['adapter'] {
    return this.model.adapter;
  }

  /** Whether gradients were added since the last step. */
  get hasGradients(): boolean {
    return this.#changes.some((change) => 'pass' in change);
  }

  async pass(pass: Pass): Promise<ForwardBackwardOutput> {
    const output = await this.#do((model) => model.pass(pass));
    if (pass.forwardOnly !== true) this.#changes.push({ pass });
    return output;
  }

  async optimStep(step: OptimStepOptions): Promise<ReadonlyMap<string, number>> {
    const metrics = await this.#do((model) => model.optimStep(step));
    this.#changes.push({ step });
    this.#steps += 1;
    await this.#saveState();
    return metrics;
  }

  /** Forgets the gradients that were added since the last step. */
  async discard(): Promise<void> {
    if (!this.hasGradients) return;
    this.#changes = [];
    await this.#restoreFirst();
  }

  /** Keeps its state under an address that stays. */
  async keep(): Promise<string> {
    return (await this.#save('kept')).address;
  }

  /** Keeps its weights to be sampled from. */
  saveForSampler(): Promise<{ model: TrainedModel; name: string; address: string }> {
    return this.#do(async (model) => {
      const name = this.#name('sampler');
      return { model, name, address: await model.saveForSampler(name) };
    });
  }

  /** Goes on from a state that was saved after some steps. */
  async load(address: string, steps: number): Promise<void> {
    this.#changes = [];
    this.#steps = steps;
    this.saved = { address };
    await this.#restoreFirst();
  }

  async close(): Promise<void> {
    await this.#unload(this.model);
  }

  /** Frees a model's place. A service that is gone holds nothing; what else stays until the session ends is said in the log. */
  async #unload(model: TrainedModel): Promise<boolean> {
    try {
      await model.unload();
      return true;
    } catch (thrown) {
      this.session.client.warn(
        `The adapter ${model.id} could not be unloaded (${messageOf(thrown)}). If the service still has it, it stays there until the session ends.`,
      );
      return false;
    }
  }

  async #saveState(): Promise<void> {
    const before = this.saved;
    this.saved = await this.#save('state');
    this.#changes = [];
    before.forget?.();
  }

  #save(what: 'state' | 'kept'): Promise<{ address: string; forget: () => void }> {
    return this.#do(async (model) => {
      const name = this.#name(what);
      const address = await model.save(name);
      return { address, forget: () => model.forget('weights', name) };
    });
  }

  /** Never the same again, since a save whose answer was lost may have been made. */
  #name(what: string): string {
    this.#names += 1;
    return `${what}-${this.#steps}-${this.#names}`;
  }

  /** One after another: none may meet a model that another is restoring. */
  #do<Result>(order: (model: TrainedModel) => Promise<Result>): Promise<Result> {
    const done = this.#last.then(() => this.#done(order));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #done<Result>(order: (model: TrainedModel) => Promise<Result>): Promise<Result> {
    if (this.#isUnknown) await this.#restore();
    for (let restores = 0; ; restores++) {
      try {
        return await order(this.model);
      } catch (thrown) {
        this.#isUnknown ||= thrown instanceof Lost;
        this.#mayRestore(thrown, restores);
        await this.#restore();
      }
    }
  }

  /** If that fails, the next order restores first: a model in an unknown state is never saved. */
  #restoreFirst(): Promise<void> {
    this.#isUnknown = true;
    return this.#do(async () => undefined);
  }

  /** @throws what was thrown where another try is no use */
  #mayRestore(thrown: unknown, restores: number): asserts thrown is Lost {
    const { client } = this.session;
    if (!(thrown instanceof Lost)) throw thrown;
    if (restores >= mostRepeats || this.saved.address === '')
      throw client.failure(`failed again after ${restores} restores: ${thrown.message}`, thrown);
    client.warn(
      `${thrown.message}. It is unknown whether the operation took place, so the learner reloads the state of step ${this.#steps - this.#stepsSince} and repeats the ${this.#changes.length} operations after it.`,
    );
  }

  get #stepsSince(): number {
    return this.#changes.filter((change) => 'step' in change).length;
  }

  /** A new model from the saved state, with the changes since. */
  #restore(): Promise<void> {
    const { session, options } = this;
    const from = this.saved.address;
    let given = this.model;
    return repeated(session, `load ${from} again`, async () => {
      // Otherwise the next one gets a place of which nothing is known.
      if (!(await this.#unload(given))) await clearPlace(session, options, async () => undefined);
      given = await TrainedModel.create(session, { ...options, from });
      for (const change of this.#changes) {
        if ('pass' in change) await given.pass(change.pass);
        else await given.optimStep(change.step);
      }
      this.model = given;
      this.#isUnknown = false;
    });
  }
}

/** A service that loses every order would be asked forever. */
const mostRepeats = 5;
const pauseMs = 1000;

/**
 * Does again what may be done twice, while its answer is lost.
 *
 * @param what completes "cannot"
 * @throws AgentRlError, after the last try
 */
async function repeated<Result>(
  session: TinkerSession,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { client } = session;
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Lost)) throw thrown;
      if (repeats >= mostRepeats) throw client.failure(`cannot ${what}: ${thrown.message}`, thrown);
      client.warn(`${thrown.message}: the service cannot ${what} yet. Retrying.`);
      await sleep(pauseMs);
      // A service that was started with an empty database does not know the session either.
      await session.renew();
    }
  }
}

/**
 * Makes a model in the place that the next one gets, and unloads it: an earlier model may have left gradients there,
 * which a step clears.
 *
 * @param use what else the model is made for, before it is unloaded
 */
export const clearPlace = <Result>(
  session: TinkerSession,
  options: Omit<CreateOptions, 'from'>,
  use: (model: TrainedModel) => Promise<Result>,
): Promise<Result> =>
  repeated(session, 'test an adapter', async () => {
    const model = await TrainedModel.create(session, options);
    await model.optimStep(noStep);
    try {
      return await use(model);
    } finally {
      await model.unload();
    }
  });
