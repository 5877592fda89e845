import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type AssistantMessage, type Message, user } from '../../../agent_rl/core/message.ts';
import { access, type Form } from '../generator/form.ts';
import { phrase, rowOf, type WorkspaceQuestion } from '../generator/task.ts';
import { repaired } from './repair.ts';

/** Runs a program in the world of a question and says what the agent would read. */
export type RunProgram = (
  code: string,
  setup: string,
) => Promise<{ content: string; isError: boolean }>;

/**
 * What the teacher gets wrong: it answers with what it found first, or leaves the first relation out.
 */
export type Slip = 'stop' | 'skip';

const toolName = 'code_exec';

/** Most programs for one relation. */
const mostTries = 4;

/**
 * A teacher's work on a question. It looks each relation up by habit, mostly as a dict, and repairs what fails by what the
 * error says. What it reads comes from running its programs.
 *
 * @returns the conversation, or `undefined` where the teacher did not find its way
 */
export async function demonstrate(
  question: WorkspaceQuestion,
  { run, rng, slip }: { run: RunProgram; rng: KeyedRng; slip?: Slip },
): Promise<{ messages: Message[]; correct: boolean } | undefined> {
  const { setup, start, chain, answer } = question;
  const messages: Message[] = [user(rowOf(question, { id: '' }).question)];
  let thing = start;
  let left = slip === 'skip' ? chain.slice(1) : slip === 'stop' ? chain.slice(0, 1) : chain;
  while (left.length > 0) {
    const [relation, ...rest] = left;
    if (relation === undefined) break;
    const thought = `${phrase(thing, left)} .`;
    const found = await lookUp(relation.name, thing, {
      run: (code) => run(code, setup),
      tried: habit(relation.form, rng.child('habit', left.length)),
      say: (code, content) => addCall(messages, { thought, code, content }),
    });
    if (found === undefined) return undefined;
    thing = found;
    left = rest;
  }
  messages.push({ role: 'assistant', content: `It is ${thing}.`, reasoning: `${thing} .` });
  return { messages, correct: thing === answer };
}

/** What the teacher tries first: it does not know the form, and is right now and then. */
function habit(form: Form, rng: KeyedRng): Form {
  const chance = rng.uniform();
  if (chance < 0.2) return form;
  return { holder: chance < 0.85 ? 'dict' : 'function', keys: 'same' };
}

async function lookUp(
  relation: string,
  thing: string,
  {
    run,
    tried,
    say,
  }: {
    run: (code: string) => ReturnType<RunProgram>;
    tried: Form;
    say: (code: string, content: string) => void;
  },
): Promise<string | undefined> {
  let form: Form | undefined = tried;
  for (let tries = 0; tries < mostTries && form !== undefined; tries++) {
    const code = `print(${access(relation, form, thing)})`;
    const { content, isError } = await run(code);
    say(code, content);
    if (!isError) return content;
    form = repaired(form, content);
  }
  return undefined;
}

function addCall(
  messages: Message[],
  { thought, code, content }: { thought: string; code: string; content: string },
): void {
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const callId = `call_${turn}_0`;
  const said: AssistantMessage = {
    role: 'assistant',
    content: '',
    reasoning: thought,
    toolCalls: [{ id: callId, name: toolName, arguments: { code } }],
  };
  messages.push(said, { role: 'tool', name: toolName, callId, content });
}
