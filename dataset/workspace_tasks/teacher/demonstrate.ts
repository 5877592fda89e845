import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { append } from '../../../agent_rl/core/long-lists.ts';
import { type Message, user } from '../../../agent_rl/core/message.ts';
import { calledTurn } from '../../demonstrations/called-turn.ts';
import type { Step } from '../generator/step.ts';
import { rowOf, type WorkspaceQuestion } from '../generator/task.ts';
import { planOf } from './plan.ts';
import { wayThrough } from './programs.ts';

/** Runs a program in the world of a question and says what the agent would read. */
export type RunProgram = (
  code: string,
  setup: string,
) => Promise<{ content: string; isError: boolean }>;

/** What the teacher gets wrong: it answers with what it found on the way, or leaves a relation out. */
export type Slip = 'stop' | 'skip';

/** Most programs for one step. */
const mostTries = 5;

/**
 * A teacher's work on a question. Before each program it thinks of what it has and what is left to do. It looks relations up by
 * habit and tables once it has seen how they begin, and repairs what fails by what the error says. What it reads comes from
 * running its programs.
 *
 * @returns the conversation, or `undefined` where the teacher did not find its way
 */
export async function demonstrate(
  question: WorkspaceQuestion,
  { run, rng, slip }: { run: RunProgram; rng: KeyedRng; slip?: Slip | undefined },
): Promise<{ messages: Message[]; correct: boolean } | undefined> {
  const { setup, start, world, answer } = question;
  const messages: Message[] = [user(rowOf(question, { id: '' }).question)];
  const steps = slipped(world.chain, slip, rng.child('slip'));
  let thing = start;
  for (const [at, step] of steps.entries()) {
    const thought = planOf(steps.slice(at), thing, steps[at - 1]);
    const found = await goThrough(step, thing, {
      run: (code) => run(code, setup),
      rng: rng.child('way', at),
      say: (code, content) => {
        const turn = messages.filter(({ role }) => role === 'assistant').length;
        const call = { name: 'code_exec', arguments: { code } };
        append(messages, calledTurn(turn, { ...call, content, reasoning: thought }));
      },
    });
    if (found === undefined) return undefined;
    thing = found;
  }
  messages.push({
    role: 'assistant',
    content: `It is ${thing}.`,
    reasoning: planOf([], thing, steps.at(-1)),
  });
  return { messages, correct: thing === answer };
}

/** The steps that a teacher takes who slips. One who has no relation to leave out stops early. */
function slipped(chain: readonly Step[], slip: Slip | undefined, rng: KeyedRng): readonly Step[] {
  if (slip === undefined) return chain;
  const left = chain.flatMap(({ kind }, at) =>
    kind === 'relation' && at < chain.length - 1 ? [at] : [],
  );
  if (slip === 'skip' && left.length > 0) {
    const skipped = rng.pick(left);
    return chain.filter((_, at) => at !== skipped);
  }
  return chain.slice(0, 1 + rng.integer(chain.length - 1));
}

async function goThrough(
  step: Step,
  from: string,
  {
    run,
    rng,
    say,
  }: {
    run: (code: string) => ReturnType<RunProgram>;
    rng: KeyedRng;
    say: (code: string, content: string) => void;
  },
): Promise<string | undefined> {
  const { first, next } = wayThrough(step, from, rng);
  let code: string | undefined = first;
  let last: Awaited<ReturnType<RunProgram>> | undefined;
  for (let tries = 0; code !== undefined; tries++) {
    if (tries === mostTries) return undefined;
    last = await run(code);
    say(code, last.content);
    code = next(last.content, last.isError);
  }
  return last?.isError === false ? last.content : undefined;
}
