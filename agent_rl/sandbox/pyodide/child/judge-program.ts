import type { InstanceWorker } from './instance-worker.ts';
import { Pipe } from './pipe.ts';
import { steadyMs } from '../protocol.ts';
import type { ChildRequest, ChildResult, JudgeTask, WorkerResult } from '../protocol.ts';

/** After the program's deadline the tests have this long to find that it is gone and say so. */
const spareMs = 1000;

interface Sides {
  program: InstanceWorker;
  tests: InstanceWorker;
}

/** Runs a program in one instance and its tests in another; the result is the program's, the verdicts the tests'. */
export async function judgeProgram(
  sides: Sides,
  { id, task, ...request }: ChildRequest & { task: JudgeTask },
): Promise<ChildResult> {
  const { seed, wallMs, memoryBytes } = request;
  const until = steadyMs() + wallMs;
  const isLate = (): boolean => steadyMs() >= until;
  const pipe = new Pipe(sides.program.channel, sides.tests.channel, task.mostVerdictBytes, isLate);
  const tests = { seed, memoryBytes, code: '', stdin: '', wallMs: wallMs + spareMs };
  const [ran, judged] = await Promise.all([
    sides.program
      .run({ ...request, task: { kind: 'serve' } }, () => pipe.cut())
      .then((result) => {
        pipe.programEnded(result.status !== 'timeout');
        return result;
      }),
    sides.tests
      .run({ ...tests, task: { kind: 'tests', tests: task.tests } })
      .finally(() => pipe.testsEnded()),
  ]);
  pipe.release();
  return { id, ...ran, ...noteOf(ran, judged), verdicts: pipe.verdicts };
}

/** What a side of the tests that did not come to its end changes in the result. */
function noteOf(ran: WorkerResult, judged: WorkerResult): Partial<WorkerResult> {
  if (judged.status === 'ok') return {};
  const late = judged.status === 'timeout';
  const why = late ? 'ran out of time' : [judged.status, judged.message].filter(Boolean).join(', ');
  return {
    ...(late ? { status: 'timeout' } : {}),
    message: [ran.message, `the tests ended early: ${why}`].filter(Boolean).join('; '),
  };
}
