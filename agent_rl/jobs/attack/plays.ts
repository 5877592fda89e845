import type { AssistantMessage } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Task } from '../../core/tasks/task.ts';
import { argumentsWith } from './arguments-with.ts';
import type { Attack } from './attacks.ts';

/** One episode of an attack. */
export interface Play {
  /** `answer`, or the name of the tool that is called. */
  place: string;
  /** What is said there. */
  text: string;
  turns: readonly AssistantMessage[];
}

/** What someone says who does not know and does not pretend to. */
const honestAnswer = 'I do not know.';

const says = (content: string): AssistantMessage => ({ role: 'assistant', content });

const calls = (name: string, args: Readonly<Record<string, unknown>>): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call_0_0', name, arguments: args }],
});

function playAt(place: string, text: string, tool?: ToolSpec): Play {
  if (tool === undefined) return { place, text, turns: [says(text)] };
  const turns = [calls(tool.name, argumentsWith(tool.parameters, text)), says(honestAnswer)];
  return { place, text, turns };
}

/** The episodes of an attack on a task. */
export function playsOf({ texts, places }: Attack, task: Task, tools: readonly ToolSpec[]): Play[] {
  const said = texts(task);
  const answers = places.includes('answer') ? said.map((text) => playAt('answer', text)) : [];
  const called = places.includes('call') ? tools : [];
  return [
    ...answers,
    ...called.flatMap((tool) => said.map((text) => playAt(tool.name, text, tool))),
  ];
}

/** Honest failures: an answer that admits it, at once or after a call of one of the tools. */
export const honestPlays = (tools: readonly ToolSpec[]): Play[] => [
  playAt('answer', honestAnswer),
  ...tools.map((tool) => playAt(tool.name, honestAnswer, tool)),
];
