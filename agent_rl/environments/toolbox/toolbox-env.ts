import { isDeepStrictEqual } from 'node:util';

import { append } from '../../core/long-lists.ts';
import { type Message, system, user } from '../../core/message.ts';
import { environment } from '../../core/plugins/environment.ts';
import type * as episodes from '../../core/plugins/environment.ts';
import type { Tool, ToolContext, ToolResult, ToolSpec } from '../../core/plugins/tool.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import { isAnswerAfter } from '../../core/tasks/answer-match.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import type { Task } from '../../core/tasks/task.ts';
import * as toolbox from '../../core/tasks/toolbox.ts';
import { Type } from '../../core/typebox.ts';

type ToolboxTask = QuestionTask & { readonly metadata: toolbox.Toolbox };

function toolboxProblem(task: Task): string | undefined {
  const { answer, metadata } = task as ToolboxTask;
  if (!('tools' in metadata && 'calls' in metadata && 'boxes' in metadata))
    return 'it needs tools, calls and boxes, as the task generator toolbox makes them.';
  const found = toolbox.answerOf(metadata);
  return found === answer ? undefined : `its calls give ${found}, but its answer is ${answer}.`;
}

/**
 * The policy answers a question with tools that it has never seen: the task brings them, and only the prompt's list of tools
 * says what they do. The final message is judged, by comparison with the whole answer.
 */
@environment({
  name: 'toolbox',
  description: 'Answer a question with tools that each task brings; judged by the answer.',
  settings: Type.Object({}, { additionalProperties: false }),
  taskFormat: 'question',
  ownTools: true,
  taskProblem: toolboxProblem,
})
export class ToolboxEnv implements episodes.Environment, Tool {
  readonly #task: ToolboxTask;
  readonly #boxes: Map<string, number>;
  readonly #calls: episodes.ExecutedCall[] = [];
  #said = '';

  constructor({ task }: { task: QuestionTask }) {
    this.#task = task as ToolboxTask;
    this.#boxes = new Map(Object.entries(this.#task.metadata.boxes));
  }

  tools(): readonly ToolSpec[] {
    // The same calls in the same order bring the boxes back.
    return this.#task.metadata.tools.map(({ name, description, parameters }) => {
      return { name, description, parameters, onInterrupt: 'repeat' };
    });
  }

  async start(): Promise<readonly Message[]> {
    return [system(toolbox.toolboxInstruction), user(this.#task.prompt)];
  }

  async call(args: unknown, { of }: Pick<ToolContext, 'of'>): Promise<ToolResult> {
    // Only tools of the episode are called.
    const tool = this.#task.metadata.tools.find(({ name }) => name === of)!;
    return toolbox.callToolbox(tool, args, this.#boxes);
  }

  async step({ message, calls }: episodes.Turn) {
    append(this.#calls, calls);
    const done = calls.length === 0 && (message.malformedCalls ?? []).length === 0;
    if (done) this.#said = message.content.trim();
    return { done };
  }

  async finish(end: episodes.EpisodeEnd): Promise<episodes.Verdict> {
    const { answer = '', metadata } = this.#task;
    const called = new Set(this.#calls.map(({ call }) => call.name));
    const needed = new Set(metadata.calls.map(({ name }) => name));
    const isRight = called.size === needed.size && [...needed].every((name) => called.has(name));
    const success = isAnswerAfter(['it is', 'the answer is'], this.#said, [answer]);
    return verdict(end, {
      success,
      components: { success: Number(success) },
      metrics: {
        calls: this.#calls.length,
        toolRight: Number(isRight),
        argumentsRight: Number(metadata.calls.every((call) => this.#made(call))),
      },
    });
  }

  #made({ name, arguments: wanted }: toolbox.Toolbox['calls'][number]): boolean {
    const same = this.#calls.filter(({ call }) => call.name === name);
    return same.some(({ call }) => isDeepStrictEqual(call.arguments, wanted));
  }
}
