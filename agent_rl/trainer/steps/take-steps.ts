import type {
  Learner,
  LossSpec,
  OptimStepOptions,
  PolicyLossSpec,
} from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';
import type { TracedDatum } from '../build-data.ts';
import type { SentSequence } from '../learned-parts.ts';
import { type CorrectedData, correctData } from './correct-data.ts';
import { gapOf, noGap, type ParityGap, requireParity } from './parity.ts';
import type { AlgorithmOptions } from '../training-options.ts';
import { type StepResult, takeStep, withReference } from './optimizer-step.ts';

/** An optimiser step, and how far generator and learner disagreed in it. */
type ComparedStep = StepResult & { gap: ParityGap };

/** The optimiser steps of one iteration. */
export interface StepsTaken {
  /** Empty without data to learn from. */
  steps: readonly ComparedStep[];
  correction?: CorrectedData | undefined;
  /** By what they were made from. */
  sent: ReadonlyMap<TranscriptRecord, SentSequence>;
}

export interface TakeStepsOptions {
  algorithm: AlgorithmOptions;
  temperature: number;
  /** Absent where generator and learner cannot be compared. */
  parityBound: { max: number; mean: number } | undefined;
  /** By step of the iteration, from 0; a step without data still uses its number. */
  optimAt: (step: number) => OptimStepOptions;
  /** Called when the weights have moved. */
  onStep: () => void;
}

/**
 * An optimiser step for each part of each pass that has data to learn from.
 *
 * @throws AgentRlError `PARITY_BROKEN`, and what the learner and a correction throw
 */
export async function takeSteps(
  { learner, reference }: { learner: Learner; reference: Scorer },
  updates: readonly (readonly TracedDatum[])[],
  { algorithm, temperature, parityBound, optimAt, onStep }: TakeStepsOptions,
): Promise<StepsTaken> {
  if (updates.every((data) => data.length === 0)) return { steps: [], sent: new Map() };
  const { kl, correction: kind } = algorithm;
  const loss = lossOf(algorithm, temperature);
  const correction =
    kind && (await correctData(learner, updates, { correction: kind, temperature }));
  const parts: (readonly TracedDatum[])[] = [];
  for (const data of correction?.updates ?? updates) {
    const isPulled = kl.kind !== 'none' && data.length > 0;
    parts.push(isPulled ? await withReference(reference, data, temperature) : data);
  }
  const steps: ComparedStep[] = [];
  const sent = new Map<TranscriptRecord, SentSequence>();
  for (let step = 0; step < algorithm.epochs * parts.length; step++) {
    const update = step % parts.length;
    const data = parts[update] ?? [];
    if (data.length === 0) continue;
    // Only then generator and learner have the same weights.
    const first = steps.length === 0;
    let gap = noGap;
    const result = await takeStep(learner, data, {
      loss,
      optim: optimAt(step),
      check: ({ logProbs }) => {
        gap = gapOf(data, logProbs);
        for (const [index, { sequence, datum }] of data.entries()) {
          const lastLogProbs = logProbs[index];
          if (lastLogProbs === undefined)
            throw new Error(
              `The learner returned log-probabilities of ${logProbs.length} of ${data.length} sequences.`,
            );
          const before = sent.get(sequence) ?? { logProbs: lastLogProbs };
          sent.set(sequence, { datum, update, logProbs: before.logProbs, lastLogProbs });
        }
        if (first && parityBound !== undefined) requireParity(gap, parityBound);
      },
    });
    onStep();
    steps.push({ ...result, gap });
  }
  return { steps, sent, correction };
}

/** The term of a loss that compares with a teacher over its likeliest tokens. */
export const listedBy = ({
  distill,
}: Pick<AlgorithmOptions, 'distill'>): PolicyLossSpec['distill'] =>
  distill === undefined || distill.topK === 0
    ? undefined
    : { topK: distill.topK, weight: distill.weight };

const lossOf = (
  { loss, kl, entropyBonus, distill }: AlgorithmOptions,
  temperature: number,
): LossSpec => ({
  name: 'policy',
  ...loss,
  kl,
  entropyBonus: entropyBonus === 0 ? undefined : entropyBonus,
  distill: listedBy({ distill }),
  temperature,
});
