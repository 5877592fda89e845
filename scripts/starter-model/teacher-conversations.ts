import type { PreparedRun } from '../../agent_rl/compose/prepare-run.ts';
import { openRunSandbox } from '../../agent_rl/compose/open-run-sandbox.ts';
import type { Config } from '../../agent_rl/config/index.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import type { QuestionTask } from '../../agent_rl/core/tasks/question-task.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import { CalculatorTool } from '../../agent_rl/tools/calculator/calculator-tool.ts';
import { CodeExecTool } from '../../agent_rl/tools/code-exec/code-exec-tool.ts';
import { formatHits } from '../../agent_rl/tools/search/search-tool.ts';
import { arithmeticDemonstrations } from '../../dataset/demonstrations/arithmetic-demonstrations.ts';
import {
  codeDemonstrations,
  type Demonstration,
} from '../../dataset/demonstrations/demonstrations.ts';
import { mixedDemonstrations } from '../../dataset/demonstrations/mixed-demonstrations.ts';
import { searchDemonstrations } from '../../dataset/demonstrations/search-demonstrations.ts';
import {
  rightDemonstrations,
  teachingOf,
  workspaceDemonstrations,
} from '../../dataset/demonstrations/workspace-demonstrations.ts';
import type { RunProgram } from '../../dataset/workspace_tasks/teacher/demonstrate.ts';

type Conversations = readonly (readonly Message[])[];

/** Conversations of the unreliable teacher of the environments that a warm-up's run file names, `count` in all. */
export async function teacherConversations(
  { chosen, loaded }: Pick<PreparedRun, 'chosen' | 'loaded'>,
  seed: number,
  count: number,
  { reliable = false }: { reliable?: boolean } = {},
): Promise<Conversations> {
  const names = new Set(chosen.environments.map(({ entry }) => entry.spec.name));
  const searching = () => ({ topK: topKOf(chosen), render, reliable });
  if (names.has('workspace')) {
    return withPrograms(loaded.config, seed, (run) =>
      names.has('search')
        ? mixedDemonstrations(seed, count, { ...searching(), run })
        : workspaceDemonstrations(seed, count, run, teachingOf(reliable)),
    );
  }
  if (names.has('question')) return withCalculator(seed, count);
  const demonstrations = names.has('search')
    ? searchDemonstrations(seed, count, searching())
    : codeDemonstrations(seed, count);
  return [...demonstrations].map(({ messages }) => messages);
}

/** Right work with the calculator, as it is asked to answer. */
async function withCalculator(seed: number, count: number): Promise<Conversations> {
  const calculator = new CalculatorTool({ settings: {} });
  const calculate = async (expression: string): Promise<string> =>
    (await calculator.call({ expression })).content;
  const conversations: (readonly Message[])[] = [];
  for await (const { messages } of arithmeticDemonstrations(seed, count, calculate))
    conversations.push(messages);
  return conversations;
}

/** The teacher's right work on training tasks of the workspace, a conversation for each. */
export const rightConversations = (
  config: Config,
  seed: number,
  tasks: readonly QuestionTask[],
): Promise<Conversations> =>
  withPrograms(config, seed, (run) => rightDemonstrations(seed, tasks, run));

/** Conversations whose programs run in the sandbox of the run file. */
async function withPrograms(
  config: Config,
  seed: number,
  demonstrationsBy: (run: RunProgram) => AsyncIterable<Demonstration>,
): Promise<Conversations> {
  const sandbox = await openRunSandbox(config, new AbortController().signal);
  const tool = new CodeExecTool({ sandbox, settings: {} });
  const random = new KeyedRng(seed, 'workspace teacher');
  const run: RunProgram = async (code, setup) => {
    const { content, isError = false } = await tool.call(
      { code },
      { signal: new AbortController().signal, random, idempotencyKey: '', inputs: { setup } },
    );
    return { content, isError };
  };
  const conversations: (readonly Message[])[] = [];
  try {
    for await (const { messages } of demonstrationsBy(run)) conversations.push(messages);
  } finally {
    await sandbox.close();
  }
  return conversations;
}

const topKOf = ({ tools }: PreparedRun['chosen']): number =>
  Number(tools.find(({ entry }) => entry.spec.name === 'search')?.settings['topK']);

/** As the `search` tool shows what it found. */
const render = (documents: readonly SearchDocument[]): string =>
  formatHits(
    documents.map(({ id, title, text }) => ({ documentId: id, title, text, score: 0 })),
    false,
  );
