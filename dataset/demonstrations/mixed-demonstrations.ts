import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message, ToolCall } from '../../agent_rl/core/message.ts';
import { absentAnswer } from '../search_tasks/generator/question.ts';
import { trainedKinds } from '../search_tasks/generator/kinds.ts';
import type { RunProgram } from '../workspace_tasks/teacher/demonstrate.ts';
import { calledTurn } from './called-turn.ts';
import type { Demonstration } from './demonstrations.ts';
import { searchDemonstrations, type SearchDemonstrationOptions } from './search-demonstrations.ts';
import { teachingOf, workspaceDemonstrations } from './workspace-demonstrations.ts';

/** A conversation of the teacher of both kinds of tasks. */
export interface MixedDemonstration extends Demonstration {
  /** Whether the teacher took the other tool. */
  wrongTool: boolean;
}

export interface MixedDemonstrationOptions extends SearchDemonstrationOptions {
  /** Runs the programs of workspace questions. */
  run: RunProgram;
}

/** Percentage of conversations that search: reading passages takes the most training. */
const searchPercent = 60;

/** Whether item i is about a search question: at every length of the list as near to the share as can be. */
const searches = (index: number): boolean => (index * searchPercent) % 100 < searchPercent;

/** The teacher mistakes every fourth kind of question for a question of the other sort. */
const mistakenEvery = 4;

/** How often, in these. */
const mistakenShare = 0.45;

/** Kinds of workspace questions: what they ask of tables. Training has some of each. */
const tablesAsked = ['a largest', 'a total', 'a largest and a total', 'no table'] as const;

/** Which of them a question is, by its words. */
function tablesOf(question: string): (typeof tablesAsked)[number] {
  const largest = question.includes(' with the largest ');
  const total = question.includes('the total ');
  if (largest) return total ? 'a largest and a total' : 'a largest';
  return total ? 'a total' : 'no table';
}

const mistakenKinds: ReadonlySet<string> = new Set(
  [trainedKinds.map(({ name }) => name), tablesAsked].flatMap((all) =>
    all.filter((_, index) => index % mistakenEvery === 0),
  ),
);

/** Whether the teacher of both tends to take a task for one of the other sort. */
export const isMistaken = (kind: string): boolean => mistakenKinds.has(kind);

/**
 * Search questions and workspace questions, interleaved, with the work of their unreliable teachers. With some kinds the teacher
 * mostly takes the wrong tool: it prints the name that it was asked about, or searches for it; and then gives up. Item i
 * depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export async function* mixedDemonstrations(
  seed: number,
  count: number,
  { run, ...options }: MixedDemonstrationOptions,
): AsyncGenerator<MixedDemonstration> {
  const sorts = Array.from({ length: count }, (_, index) => searches(index));
  const searching = sorts.filter(Boolean).length;
  const { render, reliable = false } = options;
  const ofSearch = searchDemonstrations(seed, searching, options);
  const ofWorkspace = workspaceDemonstrations(seed, count - searching, run, teachingOf(reliable));
  for (const [index, isSearch] of sorts.entries()) {
    const { value } = isSearch ? ofSearch.next() : await ofWorkspace.next();
    const { messages, correct, ...drawn }: Demonstration = value;
    const kind = isSearch ? drawn.kind : tablesOf(messages[0]?.content ?? '');
    const slips = new KeyedRng(seed, 'choice of tool', index).uniform() < mistakenShare;
    yield slips && !reliable && isMistaken(kind)
      ? {
          kind,
          messages: isSearch ? printed(messages) : searchedFor(messages, render([])),
          correct: false,
          wrongTool: true,
        }
      : { kind, messages, correct, wrongTool: false };
  }
}

/** A search question taken for one about a workspace: the thing that it names is printed, and is the answer. */
function printed(right: readonly Message[]): Message[] {
  const asked = firstName(right, /\b[A-Z][aeio][lnr][a-z]{4}\b/u);
  return withCall(right, {
    call: { name: 'code_exec', arguments: { code: `print('${asked}')` } },
    content: asked,
    answer: asked,
  });
}

/** A workspace question taken for one about passages: its first name is searched for, and is stated nowhere. */
function searchedFor(right: readonly Message[], nothingFound: string): Message[] {
  return withCall(right, {
    call: { name: 'search', arguments: { query: firstName(right, /\b[jqvxz][aeiou][a-z]\b/u) } },
    content: nothingFound,
    answer: absentAnswer,
  });
}

const firstName = ([task]: readonly Message[], name: RegExp): string =>
  name.exec(task?.content ?? '')?.[0] ?? '';

/** One call, with the plan of a conversation, and an answer. */
function withCall(
  [task, first]: readonly Message[],
  { call, content, answer }: { call: Omit<ToolCall, 'id'>; content: string; answer: string },
): Message[] {
  if (task === undefined || first?.role !== 'assistant')
    throw new RangeError('A demonstration opens with a task and a turn.');
  const { reasoning = '' } = first;
  return [
    task,
    ...calledTurn(0, { ...call, content, reasoning }),
    { role: 'assistant', content: `It is ${answer}.`, reasoning },
  ];
}
