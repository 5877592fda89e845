import type { Override } from '../config/index.ts';
import { jobs, trainingJob } from './jobs.ts';
import { prepareRun } from '../compose/prepare-run.ts';
import type { JobResult } from './job.ts';

export interface TrainAgentOptions {
  /** Path of a run file (YAML). */
  config: string;
  /** Settings by dotted path, over those of the file: `{ 'run.seed': 2 }`. */
  overrides?: Readonly<Record<string, unknown>>;
  /** Packages, or files relative to the working directory, that bring plugins besides those of the file. */
  plugins?: readonly string[];
  /** Run folder to continue; `newest` for the newest run of the config's output folder. */
  resume?: string;
  /** Resumes with other engine threads or on another device than before all the same. */
  allowOtherMachine?: boolean;
  /** Only gives the plan; nothing is trained or written. */
  dryRun?: boolean;
  /** Ends the run at the next safe place, with a checkpoint. */
  signal?: AbortSignal;
  /** Is given the preview, the plan and the table; they are not shown without it. */
  print?: (text: string) => void;
}

/**
 * Trains the agent a run file describes: what `agent-rl train` does, by `train.mode`.
 *
 * @returns what the run's `summary.json` holds, and its folder as `run`.
 * @throws AgentRlError for what the user can mend, as the command does.
 * @example
 * ```ts
 * import { trainAgent } from 'agent_rl';
 *
 * const summary = await trainAgent({
 *   config: 'configs/code_exec_grpo.yaml',
 *   overrides: { 'run.seed': 2, 'train.iterations': 20 },
 *   print: console.log,
 * });
 * console.log(summary.eval);
 * ```
 */
export async function trainAgent(options: TrainAgentOptions): Promise<JobResult> {
  const { config, dryRun = false, resume, allowOtherMachine = false } = options;
  const { signal = new AbortController().signal, print = () => undefined } = options;
  const prepared = await prepareRun(
    {
      file: config,
      flags: settingsOf(options),
      training: resume === undefined ? 'new' : 'resumed',
    },
    signal,
  );
  for (const warning of prepared.loaded.warnings) print(`Note: ${warning}`);
  return jobs[trainingJob(prepared.loaded.config)]({
    ...prepared,
    signal,
    print,
    dryRun,
    allowOtherMachine,
    ...(resume !== undefined && { resume }),
  });
}

const settingsOf = ({ overrides = {}, plugins = [] }: TrainAgentOptions): readonly Override[] => [
  ...Object.entries(overrides).map(([path, value]) => ({
    source: `overrides['${path}']`,
    path,
    value,
  })),
  ...plugins.map((value, index) => ({
    source: `plugins[${index}]`,
    path: 'plugins',
    value,
    append: true,
  })),
];
