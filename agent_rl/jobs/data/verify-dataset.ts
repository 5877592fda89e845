import { availableParallelism } from 'node:os';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { CodeTask } from '../../core/tasks/code-task.ts';
import type { SearchTask } from '../../core/tasks/search-task.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { judgeCode } from '../../sandbox/judge/judge.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { isCodeTaskFormat } from '../../../dataset/tasks/code-task-dataset.ts';
import { answerExpression } from '../../../dataset/tables/table-reading.ts';
import { readTaskFile } from '../../../dataset/tasks/task-files.ts';
import type { CheckResult } from '../job.ts';
import { rewardedConstants } from './constant-answers.ts';
import type { VerifyDatasetOptions } from './verify-dataset-options.ts';

interface Verified {
  taskId: string;
  /** Absent when the reference passed. */
  problem?: string;
}

const limits = { wallS: 20, memoryMiB: 512 };

/**
 * Reads a file of tasks. Reference solutions of code tasks are run through sandbox and judge, public cases included;
 * search tasks are checked by `verifySearchTasks`; of other tasks their form is all that is known.
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format, `DATASET_INVALID`
 */
export async function verifyDataset(options: VerifyDatasetOptions): Promise<CheckResult> {
  const { dataset: file, format = 'code', columns, answerPattern, print } = options;
  checkPattern(answerPattern);
  const reading = readTaskFile(file, format, { columns, answerPattern });
  const dataset = await abortableStart(reading, options.signal);
  // A format says what its tasks are.
  if (isCodeTaskFormat(format))
    return verifyCodeTasks(dataset.tasks as readonly CodeTask[], options);
  if (format === 'search') {
    const { verifySearchTasks } = await import('./verify-search-tasks.ts');
    return verifySearchTasks(dataset.tasks as readonly SearchTask[], options);
  }
  print(
    `${dataset.size} tasks are well formed: each has a prompt and a unique task_id. Their environment may need more fields.`,
  );
  return { ok: true, tasks: dataset.size };
}

/** @throws AgentRlError `CONFIG_INVALID` */
function checkPattern(answerPattern: string | undefined): void {
  try {
    if (answerPattern !== undefined) answerExpression(answerPattern);
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `answerPattern is not a regular expression: ${messageOf(cause)}. Write it as in '#### (.+)'.`,
      { cause },
    );
  }
}

async function verifyCodeTasks(
  tasks: readonly CodeTask[],
  options: VerifyDatasetOptions,
): Promise<CheckResult> {
  const { print, signal, sandboxPython: python } = options;
  const workers = options.sandboxWorkers ?? availableParallelism();
  const sandbox = await openSandbox({
    type: options.sandboxType ?? 'auto',
    ...(python !== undefined && { python }),
    workers,
    limits,
  });
  const { level } = sandbox.capabilities();
  try {
    for (const why of sandbox.skipped) print(`Sandbox skipped: ${why}`);
    const how = { lanes: 2 * workers, signal };
    const results = await inLanes(tasks, how, (task) => verify(sandbox, task));
    const failed = results.filter(({ problem }) => problem !== undefined);
    for (const { taskId, problem } of failed) print(`FAIL ${taskId}: ${problem}`);
    const [judged, passed] = [results.length, results.length - failed.length];
    const share = ((100 * passed) / Math.max(1, judged)).toFixed(1);
    print(`${passed} of ${judged} reference solutions pass (${share} %), sandbox ${level}.`);
    const degenerate = options.degenerate === true && (await findDegenerate(sandbox, tasks, how));
    if (degenerate !== false) printDegenerate(degenerate, tasks.length, print);
    return {
      ok: failed.length === 0 && !signal.aborted,
      tasks: tasks.length,
      judged,
      passed,
      sandboxLevel: level,
      sandboxesSkipped: sandbox.skipped,
      failed: failed.map(({ taskId, problem }) => ({ taskId, problem })),
      ...(degenerate !== false && { degenerate }),
    };
  } finally {
    await sandbox.close();
  }
}

interface Lanes {
  lanes: number;
  signal: AbortSignal;
}

/** Results in the order of the tasks; those that an aborted signal left out are missing. */
async function inLanes<Result>(
  tasks: readonly CodeTask[],
  { lanes, signal }: Lanes,
  work: (task: CodeTask) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = tasks.entries();
  const lane = async (): Promise<void> => {
    for (const [index, task] of waiting) {
      if (signal.aborted) return;
      results[index] = await work(task);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results.filter((result) => result !== undefined);
}

/** A task that rewards an answer which has nothing to do with it. */
interface Degenerate {
  taskId: string;
  answers: readonly string[];
}

async function findDegenerate(
  sandbox: Sandbox,
  tasks: readonly CodeTask[],
  how: Lanes,
): Promise<readonly Degenerate[]> {
  const found = await inLanes(tasks, how, async (task) => ({
    taskId: task.taskId,
    answers: await rewardedConstants(sandbox, task),
  }));
  return found.filter(({ answers }) => answers.length > 0);
}

function printDegenerate(
  degenerate: readonly Degenerate[],
  tasks: number,
  print: (line: string) => void,
): void {
  for (const { taskId, answers } of degenerate) {
    print(`DEGENERATE ${taskId}: full reward for ${answers.join(', ')}`);
  }
  print(
    `${degenerate.length} of ${tasks} tasks give the full reward to a constant answer or to the input itself.`,
  );
}

async function verify(sandbox: Sandbox, task: CodeTask): Promise<Verified> {
  const { taskId, tests, compare, referenceSolution: code } = task;
  if (code === undefined) return { taskId, problem: 'it has no reference_solution' };
  const { status, passed, total, failures } = await judgeCode(sandbox, {
    code,
    tests,
    compare,
    includePublic: true,
  });
  if (status === 'judged' && passed === total) return { taskId };
  return { taskId, problem: `${passed} of ${total} cases; ${failures.slice(0, 3).join('; ')}` };
}
