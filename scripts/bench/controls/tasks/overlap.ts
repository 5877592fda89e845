import type { Task } from '../../../../agent_rl/core/tasks/task.ts';

/** What an evaluation shares with what the model was trained on: shares of its tasks; `null` where tasks do not say. */
export interface Overlap {
  tasks: number;
  prompt: number | null;
  promptUpToNames: number | null;
  world: number | null;
  family: number | null;
  forms: number | null;
  pairs: number | null;
  answer: number | null;
}

/** What can be compared of a task. */
export interface Comparable {
  prompt: string;
  world?: string | undefined;
  /** Its forms with a plus between them. */
  family?: string | undefined;
  answer?: string | undefined;
}

/** In fewer of the prompts than this share, a word counts as a name and is left out of comparisons up to names. */
const wordingShare = 0.1;

const wordsOf = (prompt: string): string[] => prompt.split(/\s+/).filter((word) => word !== '');

/** Words that prompts are worded with, as opposed to the names in them. */
function wordingOf(prompts: readonly string[]): Set<string> {
  const counts = new Map<string, number>();
  for (const word of prompts.flatMap((prompt) => [...new Set(wordsOf(prompt))]))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count >= wordingShare * prompts.length);
  return new Set(common.map(([word]) => word));
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const comparable = (task: Task): Comparable => {
  const { setup, family } = task.metadata;
  const { answer } = task as Task & { answer?: unknown };
  return {
    prompt: task.prompt,
    world: textOf(setup),
    family: textOf(family),
    answer: textOf(answer),
  };
};

const formsOf = ({ family }: Comparable): string[] | undefined => family?.split('+');

function pairsOf(task: Comparable): string[] | undefined {
  const forms = formsOf(task);
  if (forms === undefined || forms.length < 2) return undefined;
  return forms.slice(1).map((form, at) => `${forms[at] ?? ''}+${form}`);
}

const one = (text: string | undefined): string[] | undefined =>
  text === undefined ? undefined : [text];

/** Shares of the held tasks that have something in common with a task seen. */
export function overlap(held: readonly Comparable[], seen: readonly Comparable[]): Overlap {
  const wording = wordingOf(seen.map(({ prompt }) => prompt));
  const upToNames = ({ prompt }: Comparable): string =>
    wordsOf(prompt)
      .map((word) => (wording.has(word) ? word : '_'))
      .join(' ');
  /** The share of tasks with parts whose parts were all seen. */
  const share = (partsOf: (task: Comparable) => readonly string[] | undefined): number | null => {
    const known = new Set(seen.flatMap((task) => partsOf(task) ?? []));
    const asked = held.flatMap((task) => {
      const parts = partsOf(task);
      return parts === undefined ? [] : [parts.every((part) => known.has(part))];
    });
    if (asked.length === 0 || known.size === 0) return null;
    return asked.filter(Boolean).length / asked.length;
  };
  return {
    tasks: held.length,
    prompt: share(({ prompt }) => [prompt]),
    promptUpToNames: share((task) => [upToNames(task)]),
    world: share(({ world }) => one(world)),
    family: share(({ family }) => one(family)),
    forms: share(formsOf),
    pairs: share(pairsOf),
    answer: share(({ answer }) => one(answer)),
  };
}
