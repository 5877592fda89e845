import { openEngine, playing } from '../../compose/open-engine.ts';
import { tryRunSandbox } from '../../compose/open-run-sandbox.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import type { JobContext, JobResult } from '../job.ts';
import { expectedTime } from './measure-speed.ts';
import { openedFacts, planFacts, planText, trainingPlan } from './plan.ts';

/** The plan and no run; the engine is opened to measure what the expected time follows from. */
export async function dryRun(run: ResolvedRun, { print, signal }: JobContext): Promise<JobResult> {
  const { config, model } = run;
  const facts = planFacts(run);
  const plan = trainingPlan(config, facts);
  const rows = config.rollout.workers;
  const engine = await openEngine(config, model, {
    ...playing(config, { trains: true, rows }),
    signal,
  });
  try {
    const expected = await abortableStart(expectedTime(engine, config, plan), signal);
    const sandbox = facts.sandboxes === 0 ? undefined : await tryRunSandbox(config, signal);
    const opened = {
      ...(await openedFacts(engine, expected, sandbox?.tier)),
      ...(sandbox !== undefined && { sandboxesSkipped: sandbox.skipped }),
    };
    print(planText(config, facts, plan, opened));
    return { dryRun: true, plan, ...opened };
  } finally {
    await engine.close();
  }
}
