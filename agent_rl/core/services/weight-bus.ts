import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { AgentRlError } from '../errors.ts';
import { smallest } from '../long-lists.ts';
import type { Generator, GeneratorInfo } from './generator.ts';
import type { Learner, LearnerInfo } from './learner.ts';
import { publishedOf, scorerOf } from './scorer.ts';
import type { WeightKind, WeightPublisher, WeightRef, WeightTarget } from './weights.ts';

export interface WeightBusParts {
  learner: Learner;
  generators: readonly Generator[];
  /** Folder for weights that are shared as files, one subfolder per version; created when needed. */
  folder: string;
  /** Whether generators draw from published weights while the learner learns on: what they share must not change then. */
  overlaps?: boolean | undefined;
}

/** Between one learner and the generators that draw from its weights. */
export class WeightBus implements WeightPublisher {
  /** The newest two: the older one may still be needed for a checkpoint. */
  #held: readonly WeightRef[] = [];
  #folders = 0;

  private constructor(
    private readonly parts: WeightBusParts,
    private readonly kind: WeightKind,
    readonly versionsAtOnce: number,
  ) {}

  /** @throws AgentRlError `CONFIG_INVALID` when a generator does not take the learner's weights in any way */
  static async connect(parts: WeightBusParts): Promise<WeightBus> {
    const learner = await parts.learner.describe();
    const generators = await Promise.all(parts.generators.map((one) => one.describe()));
    const publishes = learner.publishes.filter((kind) => !parts.overlaps || kind !== 'memory');
    // Learners keep two adapters to score with, and one whole model.
    const isAdapter = learner.trainedParameters < learner.parameters;
    const versions = generators.map(({ versionsAtOnce = 1 }) => (isAdapter ? versionsAtOnce : 1));
    const kind = sharedKind({ ...learner, publishes }, generators);
    return new WeightBus(parts, kind, smallest([...versions, 2]));
  }

  async publish(signal?: AbortSignal): Promise<WeightRef> {
    const { learner, overlaps } = this.parts;
    const weights = await learner.exportWeights(this.#target());
    await this.#give(weights, signal);
    const [old, older] = this.#held;
    await this.#drop(overlaps ? older : old, weights);
    this.#held = old === undefined || !overlaps ? [weights] : [weights, old];
    return weights;
  }

  async use(weights: WeightRef, signal?: AbortSignal): Promise<void> {
    await this.parts.learner.keepPublished?.(weights);
    await this.#give(weights, signal);
  }

  async #give(weights: WeightRef, signal?: AbortSignal): Promise<void> {
    const { generators, learner, overlaps } = this.parts;
    const scorer = overlaps ? publishedOf(learner, weights.version) : scorerOf(learner);
    await Promise.all(generators.map(async (one) => one.use?.(weights, signal, scorer)));
  }

  async close(): Promise<void> {
    for (const weights of this.#held) await this.#drop(weights);
  }

  #target(): WeightTarget {
    if (this.kind !== 'folder') return { kind: this.kind };
    this.#folders += 1;
    return { kind: 'folder', folder: join(this.parts.folder, String(this.#folders)) };
  }

  /** No generator reads them any more. */
  async #drop(weights: WeightRef | undefined, newer?: WeightRef): Promise<void> {
    if (weights?.kind !== 'folder' || weights.location === newer?.location) return;
    await rm(weights.location, { recursive: true, force: true });
  }
}

/** What both must share, for weights that are not copied. */
const placeOf = { memory: 'engine', service: 'service' } as const;

function sharedKind(learner: LearnerInfo, generators: readonly GeneratorInfo[]): WeightKind {
  const takes = (generator: GeneratorInfo, kind: WeightKind): boolean =>
    generator.takes.includes(kind) &&
    (kind === 'folder' || generator[placeOf[kind]] === learner[placeOf[kind]]);
  const shared = learner.publishes.find((one) => generators.every((other) => takes(other, one)));
  if (shared !== undefined) return shared;
  const other = generators.find((one) => !learner.publishes.some((kind) => takes(one, kind)));
  const names = other === undefined ? 'the generators together' : `generator ${other.name}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `Learner ${learner.name} and ${names} cannot exchange weights: the learner publishes ${learner.publishes.join(', ') || 'nothing'}, and ${other === undefined ? 'none of these kinds suits all generators' : `the generator takes ${other.takes.join(', ') || 'only its own weights'}`}. Choose another generator.type or learner.type.`,
  );
}
