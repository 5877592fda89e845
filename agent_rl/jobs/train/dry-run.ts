import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import type { RunSources } from '../../runs/inputs/run-inputs.ts';
import { whereToResume } from '../../runs/resume-point.ts';
import { checkRunFolder } from '../../runs/run-folder.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { freeBytes } from './checkpoint-room.ts';
import { expectedTime, timeText } from './measure-speed.ts';
import { openedFacts, planFacts, planText, trainingPlan } from './plan.ts';
import { openReady } from './ready/ready-agent.ts';
import { sourcesOf } from './trainer-options.ts';

/** The plan and no run: everything is opened, so that what the run would refuse is refused here. */
export async function dryRun(resolved: ResolvedRun, options: TrainingOptions): Promise<JobResult> {
  const { print, signal, measure } = options;
  const opened = new Cleanup();
  try {
    const resume = await whereToBegin(resolved, options, sourcesOf(resolved));
    const { run, agent, prompts, leftOut } = await openReady(resolved, options, opened, resume);
    const { config } = run;
    const { model, sandbox } = agent;
    model.incidents.listen((text) => print(`Note: ${text}`));
    for (const why of prompts.unmeasured) print(`Note: ${why}`);
    const facts = { ...planFacts(run), leftOut: leftOut.length };
    const plan = trainingPlan(config, facts);
    const bytesForCheckpoints = await freeBytes(config.run.outputDir);
    const made = {
      ...(await openedFacts(model.engines, bytesForCheckpoints, sandbox?.tier)),
      ...(sandbox !== undefined && { sandboxesSkipped: sandbox.skipped }),
    };
    const work = { ...plan, promptTokens: prompts.meanTokens };
    const expected = measure
      ? await abortableStart(expectedTime(model, config, work), signal)
      : undefined;
    print(`${planText(config, facts, plan, made)}\n${timeText(expected)}`);
    return { dryRun: true, plan, ...made, ...expected, leftOut };
  } finally {
    await opened.close();
  }
}

/** The checkpoint to resume from; nothing for a new run, whose folder must be one that can be made. */
export async function whereToBegin(
  run: ResolvedRun,
  { resume, ...options }: TrainingOptions,
  sources: RunSources,
) {
  if (resume !== undefined) return whereToResume({ ...options, ...run, resume, sources });
  checkRunFolder(run.config.run);
  return undefined;
}
