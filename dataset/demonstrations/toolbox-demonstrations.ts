import { system, user } from '../../agent_rl/core/message.ts';
import { answersTo, toolboxInstruction } from '../../agent_rl/core/tasks/toolbox.ts';
import type { ToolDefinition } from '../../model/text/chat-template.ts';
import { type ToolboxTaskSettings, trainedTask } from '../toolbox_tasks/toolbox-tasks.ts';
import { calledTurn } from './called-turn.ts';
import type { Demonstration } from './demonstrations.ts';

/** @yields `count` fresh tasks with their tools, right calls and answer: item i depends on settings, seed and i alone. */
export function* toolboxDemonstrations(
  seed: number,
  count: number,
  settings: ToolboxTaskSettings,
): Generator<Demonstration & { tools: readonly ToolDefinition[] }> {
  for (let index = 0; index < count; index++) {
    const { question, answer, ...box } = trainedTask(settings, 'warm-up', seed, index);
    const contents = answersTo(box);
    const turns = box.calls.flatMap((call, turn) =>
      calledTurn(turn, { ...call, content: contents[turn]! }),
    );
    const content = turns.length === 0 ? answer : `The answer is ${answer}.`;
    const asked = [system(toolboxInstruction), user(question)];
    const messages = [...asked, ...turns, { role: 'assistant' as const, content }];
    const tools = box.tools.map(({ name, description, parameters }) => {
      return { name, description, parameters };
    });
    yield { kind: box.family, messages, tools, correct: true };
  }
}
