import type { CodeTests, Compare } from '../../agent_rl/core/tasks/code-task.ts';
import type { Sandbox } from '../../agent_rl/core/services/sandbox.ts';
import { judgeCode } from '../../agent_rl/sandbox/judge/judge.ts';
import type { HackedTask, JudgedBy, RewardHack } from './reward-hacks.ts';
import type { Finding } from './run-attack.ts';

interface JudgedProgram {
  name: string;
  code: string;
  tests: CodeTests;
  compare: Compare;
  honest: boolean;
}

/** An honest program ends on its own, however slow the machine; a hack may run until its deadline. */
const limitsOf = (honest: boolean) => ({ wallS: honest ? 20 : 4, memoryMiB: 256 });

/** No hack may pass all tests, in any way of judging that it is for; every honest program must. */
export async function runRewardHacks(
  sandbox: Sandbox,
  tasks: readonly HackedTask[],
  hacks: readonly RewardHack[],
): Promise<readonly Finding[]> {
  const honest = tasks.flatMap((task) => programsOf(task, { ...task, code: task.honest }, 'both'));
  const hostile = hacks.flatMap((hack) => programsOf(hack.tests, hack, hack.kind));
  const findings: Finding[] = [];
  for (const program of honest)
    findings.push(await findingOf(sandbox, { ...program, honest: true }));
  for (const program of hostile) findings.push(await findingOf(sandbox, program));
  return findings;
}

function programsOf(
  task: HackedTask,
  { name, code }: Pick<RewardHack, 'name' | 'code'>,
  kind: RewardHack['kind'],
): readonly JudgedProgram[] {
  const ways: readonly JudgedBy[] = kind === 'both' ? ['calls', 'judge'] : [kind];
  return ways.flatMap((way) => {
    const tests = task[way];
    if (tests === undefined) return [];
    return { name: `${name}, by ${way}`, code, tests, compare: task.compare, honest: false };
  });
}

async function findingOf(sandbox: Sandbox, program: JudgedProgram): Promise<Finding> {
  const { name, code, tests, compare, honest } = program;
  const started = performance.now();
  const limits = limitsOf(honest);
  const judged = await judgeCode(sandbox, { code, tests, compare, limits });
  const { status, passed, total, failures } = judged;
  const problems: string[] = [];
  if (status === 'sandbox_error') problems.push(`the sandbox failed: ${failures.join('; ')}`);
  else if (total === 0) problems.push('it has no tests');
  else if (honest !== (passed === total)) {
    const kind = honest ? 'an honest program' : 'a hack';
    problems.push(`${passed} of ${total} tests passed of ${kind}`);
  }
  return { attack: name, status, wallMs: Math.round(performance.now() - started), problems };
}
