import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { mentionsAnswer } from '../../../agent_rl/core/tasks/answer-match.ts';
import { answerOf, rolesOf, type Toolbox } from '../../../agent_rl/core/tasks/toolbox.ts';
import { filled, textsOf } from './texts.ts';
import { type Drawing, drawTool } from './tool.ts';
import { drawWorld, type Use } from './words.ts';

/** What tasks are drawn from. */
export interface TaskKind extends Drawing {
  use: Use;
  /** Operations that are asked for, and all that tools may have. */
  asked: readonly string[];
  around: readonly string[];
  /** Fewest and most tools. */
  count: readonly [least: number, most: number];
}

export interface ToolboxTask extends Toolbox {
  question: string;
  answer: string;
  /** The operations that are needed, in order, by which results are clustered. */
  family: string;
}

/** A task whose prompt does not hold its answer. */
export function drawTask(kind: TaskKind, rng: KeyedRng): ToolboxTask {
  for (let draw = 0; ; draw++) {
    const task = drawnTask(kind, rng.child(draw));
    const prompt = [task.question, ...task.tools.map(({ description }) => description)].join('\n');
    if (mentionsAnswer(prompt, [task.answer])) continue;
    const last = task.calls.at(-1)?.name;
    const others = task.tools.filter(({ name }) => name !== last);
    if (kind.perturb === 'removed') return answered({ ...task, tools: others, calls: [] });
    if (kind.perturb !== 'lying') return task;
    const lies = task.tools.map((tool) => (tool.name === last ? { ...tool, lies: true } : tool));
    return answered({ ...task, tools: lies });
  }
}

const answered = (task: Omit<ToolboxTask, 'answer'>): ToolboxTask =>
  Object.assign({}, task, { answer: answerOf(task) });

/** How often the first number of a question must be looked up. */
const chainShare = 1 / 3;

function drawnTask(kind: TaskKind, rng: KeyedRng): ToolboxTask {
  const operation = rng.child('operation').pick(kind.asked);
  const chained = operation === 'convert_unit' ? 'value' : 'a';
  const isChained =
    rolesOf(operation).includes(chained) && rng.child('chain').uniform() < chainShare;
  const after =
    operation === 'put_in_box' || operation === 'move_between_boxes' ? ['read_box'] : [];
  const needed = [...(isChained ? ['look_up_entry'] : []), operation, ...after];
  const { values: given, table, boxes } = drawWorld(kind.use, rng.child('world'));
  const distractors = kind.around.filter((name) => !needed.includes(name));
  const [least, most] = kind.count;
  const count = least + rng.child('count').integer(most - least + 1);
  const names = [...needed, ...rng.child('around').shuffle(distractors)].slice(0, count);
  const drawn = new Map(names.map((name) => [name, drawTool(name, kind, rng)]));
  const knows: Readonly<Record<string, object>> = {
    look_up_entry: { table },
    find_holder: { table },
    convert_unit: { factor: 2 + rng.child('factor').integer(97) },
  };
  const tools = [...drawn].map(([name, { tool }]) => Object.assign(tool, knows[name]));
  const values = isChained ? { ...given, [chained]: given.value } : given;
  const calls = needed.map((name) => {
    const { tool, argumentsOf } = drawn.get(name)!;
    return { name: tool.name, arguments: argumentsOf(values) };
  });
  const looked = { noun: drawn.get('look_up_entry')?.words.noun, key: given.key };
  const phrase = { [chained]: filled('the {noun} of {key}', looked) };
  const shown = { ...given, ...(isChained && phrase), ...drawn.get(operation)!.words };
  const question = filled(textsOf(operation).asks, shown);
  const box = { tools: rng.child('shown').shuffle(tools), calls, boxes };
  return answered({ ...box, question, family: needed.join(', ') });
}
