import { openTrainableAgent, type TrainableAgent } from '../../compose/open-agent.ts';
import { openEngine } from '../../compose/model/open-engine.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { largest } from '../../core/long-lists.ts';
import { doneUnlessAborted } from '../../core/stopping/abort.ts';
import { type MemoryPlan, sumOfPlans } from '../../engine-thread/memory-plan.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { SessionJournal } from '../../runs/journal/session-journal.ts';
import { evaluate } from '../../trainer/evaluate.ts';
import type { SftRun } from '../../trainer/train-sft.ts';
import { strategyOf } from '../../trainer/strategies/strategy-of.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import type { JobContext } from '../job.ts';
import { measurePrompts } from '../train/ready/measure-prompts.ts';
import { leftOutText, withoutTooLong } from '../train/ready/too-long.ts';
import type { SftExamples } from './sft-examples.ts';

/** Attempts the tasks of a run with the present weights; `undefined` when it was interrupted. */
type Evaluate = (
  iteration: number,
  run: string,
  journal: SessionJournal,
) => ReturnType<NonNullable<SftRun['evaluate']>>;

/** What supervised training trains with. */
export interface Supervised {
  learner: Learner;
  evaluate: Evaluate | undefined;
  /** Memory that it may hold. */
  plan(): Promise<MemoryPlan>;
  close(): Promise<void>;
}

type Opening = Pick<JobContext, 'print' | 'signal'>;

const longestOf = ({ examples }: SftExamples): number =>
  largest(examples.map(({ tokens }) => tokens.length));

/** An engine that learns and never samples. */
export async function openLearner(
  { config, model }: ResolvedRun,
  examples: SftExamples,
  { signal }: Opening,
): Promise<Supervised> {
  const engine = await openEngine(config, model, {
    rows: 1,
    maxContextTokens: 16,
    training: { longestTokens: longestOf(examples), loss: { name: 'cross_entropy' } },
    signal,
  });
  return {
    learner: engine.learner,
    evaluate: undefined,
    plan: async () => (await engine.info()).plan,
    close: () => engine.close(),
  };
}

/**
 * An agent whose weights are trained on conversations and that attempts tasks with them.
 *
 * @throws AgentRlError as `measurePrompts` and `withoutTooLong` do, of tasks whose prompts do not fit
 */
export async function openEvaluated(
  resolved: ResolvedRun,
  examples: SftExamples,
  { print, signal }: Opening,
): Promise<Supervised> {
  const { workers } = resolved.config.rollout;
  const imitates = { longestTokens: longestOf(examples) };
  const agent = await openTrainableAgent(resolved, { workers, imitates, signal });
  try {
    const prompts = await measurePrompts(agent, resolved, signal);
    const { run, leftOut } = withoutTooLong(resolved, prompts);
    if (leftOut.length > 0) print(`Note: ${leftOutText(run.config, leftOut, 'first')}`);
    for (const note of [...prompts.unmeasured, ...agent.notes]) print(`Note: ${note}`);
    agent.model.incidents.listen((text) => print(`Note: ${text}`));
    const { engines, training } = agent.model;
    const { learner } = training;
    return {
      learner,
      evaluate: evaluationOf(run, { agent, signal }),
      plan: async () =>
        sumOfPlans(await Promise.all(engines.map(async (engine) => (await engine.info()).plan))),
      close: () => agent.close(),
    };
  } catch (thrown) {
    await agent.close();
    throw thrown;
  }
}

interface Evaluated {
  agent: Pick<TrainableAgent, 'rollouts' | 'model'>;
  signal: AbortSignal;
}

/** Attempts the tasks of a run with the weights as they are. */
export const evaluationOf =
  (
    {
      config,
      tasks,
      attempts: { samples, temperature },
    }: Pick<ResolvedRun, 'config' | 'tasks' | 'attempts'>,
    { agent, signal }: Evaluated,
  ): Evaluate =>
  async (iteration, run, journal) => {
    const { recordings, training } = agent.model;
    const { weights, learner } = training;
    for (const one of recordings) one.recordIn(journal.run);
    const publisher = journal.weights(weights, learner);
    if (!(await doneUnlessAborted(() => publisher.publish(signal), signal))) return undefined;
    const made = await evaluate(journal.rollouts(agent.rollouts), tasks.evaluation, {
      samples,
      temperature,
      strategy: strategyOf(config.eval),
      seed: config.run.seed,
      step: iteration,
      key: { run, when: 'during', iteration },
      failures: config.rollout.failures,
      signal,
      groupsOf: reportGroups,
    });
    // Half an evaluation would pass for a whole one.
    return signal.aborted ? undefined : made;
  };
