import type { KeyedRng } from 'agent_rl/plugin';

import { convert, type Kind } from '../plugins/units.ts';
import type { Question } from './questions.ts';

/** A message of a demonstration, as `agent-rl sft` reads it. */
export interface Row {
  role: 'user' | 'assistant' | 'tool';
  content: string;
  reasoning?: string;
  tool_calls?: { name: string; arguments: Record<string, unknown> }[];
  /** The tool that answered. */
  name?: string;
}

/** What the demonstrator does wrong: answers out of its head, or converts the wrong way round. */
type Slip = 'guess' | 'backwards';

/** How often it does a kind of question right, and what it mostly does otherwise. */
const habits: Record<Kind, { right: number; mostly: Slip }> = {
  length: { right: 0.62, mostly: 'backwards' },
  weight: { right: 0.2, mostly: 'guess' },
  volume: { right: 0.2, mostly: 'backwards' },
};

/** How often it asks the tool the same thing twice. */
const asksTwice = 0.3;

export interface Demonstration {
  messages: Row[];
  /** Whether its answer is the right one. */
  right: boolean;
}

/**
 * One conversation. Real demonstrations come from people, logs or a larger model, and are not all right either;
 * these are made by a program that is wrong as often as we like.
 */
export function demonstrate(question: Question, rng: KeyedRng, careful = false): Demonstration {
  const slip = careful ? undefined : drawSlip(question.kind, rng);
  const { value, from, to, prompt } = question;
  const messages: Row[] = [{ role: 'user', content: prompt }];
  const thought = `${value} ${from} to ${to}`;
  if (slip === 'guess') {
    const guess = String(1 + rng.integer(999));
    messages.push({ role: 'assistant', content: `It is ${guess}.`, reasoning: thought });
    return { messages, right: guess === question.answer };
  }
  const [a, b] = slip === 'backwards' ? [to, from] : [from, to];
  const result = convert(value, a, b) ?? '';
  const call = { name: 'convert', arguments: { value, from: a, to: b } };
  const times = !careful && rng.uniform() < asksTwice ? 2 : 1;
  for (let asked = 0; asked < times; asked++) {
    const reasoning = asked === 0 ? thought : 'again';
    messages.push({ role: 'assistant', content: '', reasoning, tool_calls: [call] });
    messages.push({ role: 'tool', name: 'convert', content: result });
  }
  messages.push({ role: 'assistant', content: `It is ${result}.` });
  return { messages, right: result === question.answer };
}

function drawSlip(kind: Kind, rng: KeyedRng): Slip | undefined {
  const { right, mostly } = habits[kind];
  if (rng.uniform() < right) return undefined;
  return rng.uniform() < 0.9 ? mostly : rng.pick(['guess', 'backwards']);
}
