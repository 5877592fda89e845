import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { type Message, user } from '../../agent_rl/core/message.ts';
import { pythonRepr } from '../../agent_rl/core/python/python-value.ts';
import type { CodeTask, CodeTests } from '../../agent_rl/core/tasks/code-task.ts';
import { trainFamilies } from '../code_tasks/generator/families.ts';
import { parametersOf, signatureOf } from '../code_tasks/generator/parameters.ts';
import { calledTurn } from './called-turn.ts';
import { planOf } from './demonstrate.ts';

/**
 * A code task's own reference, run once, as the teacher of the warm-up would show it: its plan, the program, what the public
 * example printed, and the end.
 *
 * @throws AgentRlError `DATASET_INVALID` for a task without a reference, or that the generator did not make
 */
export function referenceDemonstration(task: CodeTask): readonly Message[] {
  const content = exampleOutput(task.tests);
  const { referenceSolution: code } = task;
  if (code === undefined || content === undefined) throw unfit(task, 'no reference or no example');
  const call = { name: 'code_exec', arguments: { code } };
  return [
    user(task.prompt),
    ...calledTurn(0, { ...call, content, reasoning: planOf(shapeOf(task)) }),
    { role: 'assistant', content: 'Done.' },
  ];
}

/** What the tool shows of the public example. */
function exampleOutput(tests: CodeTests): string | undefined {
  if (tests.kind === 'stdin')
    return tests.cases.find((one) => one.public === true)?.output.trimEnd();
  if (tests.kind === 'asserts') return undefined;
  const example = tests.cases.find((one) => one.public === true);
  return example && pythonRepr(example.expected);
}

function shapeOf(task: CodeTask) {
  const { family: name, signature } = task.metadata;
  const family = trainFamilies.find((one) => one.name === name);
  const parameters =
    family &&
    parametersOf(family, 'trained').find((some) => signatureOf(family, some) === signature);
  if (family === undefined || parameters === undefined)
    throw unfit(task, 'no family of the generator');
  return { family, parameters };
}

const unfit = ({ taskId }: CodeTask, what: string): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `Task ${JSON.stringify(taskId)} has ${what}, so it cannot be demonstrated. Use tasks from make-code-tasks.`,
  );
