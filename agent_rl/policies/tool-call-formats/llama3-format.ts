import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  type TemplateSample,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { isRecord } from '../../core/is-record.ts';
import { pythonJson } from '../../core/python/python-json.ts';
import {
  codeCall,
  codeTarget,
  type CodeTargetSettings,
  codeTargetSettings,
} from './code-target.ts';
import { callOf, isOnly, parsedJson, splitThoughts, TurnReading } from './read-turn.ts';

const pythonTag = '<|python_tag|>';
const shape = 'write {"name": "…", "parameters": {…}} and nothing else';

/**
 * Calls as Llama 3 models write them: a turn that is JSON and nothing else, one object or several separated by
 * `;` or white space, each with `name` and `parameters`; or code after `<|python_tag|>`.
 */
@toolCallFormat({
  name: 'llama3',
  description:
    'A turn that is JSON with name and parameters, or code after <|python_tag|>, as Llama 3 models write it.',
  settings: codeTargetSettings,
})
export class Llama3Format implements ToolCallFormat {
  readonly endsOfTurn = ['<|eom_id|>', '<|eot_id|>'];
  readonly opensCall = ['{', pythonTag];

  constructor(private readonly given: { settings: CodeTargetSettings }) {}

  read({ text, turn, inThought, tools }: SampledTurn): AssistantMessage {
    const { spoken, thoughts } = splitThoughts(text, inThought);
    const reading = new TurnReading(turn, thoughts);
    const tag = spoken.indexOf(pythonTag);
    const before = tag < 0 ? spoken : spoken.slice(0, tag);
    this.#readJson(before, reading, tools);
    if (tag >= 0) this.#readTagged(spoken.slice(tag), reading, tools);
    return reading.message();
  }

  print({ name, arguments: args, written }: BareCall): string {
    return `{"name": ${JSON.stringify(name)}, "parameters": ${pythonJson(args, written)}}`;
  }

  fits({ turn, call }: TemplateSample): boolean {
    const asTurn = { turn: 0, inThought: false, tools: [] };
    return turn !== undefined && isOnly(this.read({ text: turn, ...asTurn }), call);
  }

  /** A tool that is named must be there; without code every call can still be JSON. */
  problemWith(tools: readonly ToolSpec[]): string | undefined {
    const { tool, argument } = this.given.settings;
    if (tool === undefined && argument === undefined) return undefined;
    const target = codeTarget(tools, this.given.settings);
    return typeof target === 'string' ? target : undefined;
  }

  #readJson(text: string, reading: TurnReading, tools: readonly ToolSpec[]): void {
    const spoken = text.trim();
    const objects = separateObjects(spoken);
    if (objects !== undefined && objects.some((one) => looksLikeCall(one, tools))) {
      for (const one of objects) reading.call(one, readCall(one));
    } else if (looksLikeCall(spoken, tools)) {
      reading.call(spoken, `The turn is not JSON alone: ${shape}.`);
    } else reading.say(text);
  }

  #readTagged(text: string, reading: TurnReading, tools: readonly ToolSpec[]): void {
    const code = text.slice(pythonTag.length);
    const call = readCall(code.trim());
    if (typeof call !== 'string') return reading.call(text, call);
    const target = codeTarget(tools, this.given.settings);
    if (typeof target !== 'string') return reading.call(text, codeCall(target, code));
    return reading.call(text, `No code can be run: ${target}. To call a tool, ${shape}.`);
  }
}

/** Whether a text is meant as a call, well formed or not, and not as an answer in JSON. */
function looksLikeCall(text: string, tools: readonly ToolSpec[]): boolean {
  if (!/^\{\s*"(?:name|type|function|parameters|arguments)"\s*:/.test(text)) return false;
  if (/"(?:parameters|arguments)"\s*:/.test(text)) return true;
  return tools.some(({ name }) => text.includes(JSON.stringify(name)));
}

/** The objects of a text that is objects separated by `;` or white space and nothing else. */
function separateObjects(text: string): readonly string[] | undefined {
  const objects: string[] = [];
  let from = 0;
  while (from < text.length) {
    const end = objectEnd(text, from);
    if (end === undefined) return undefined;
    objects.push(text.slice(from, end));
    from = end + (/^[\s;]*/.exec(text.slice(end))?.[0].length ?? 0);
  }
  return objects.length === 0 ? undefined : objects;
}

/** Index after the object that opens at `start`. */
function objectEnd(text: string, start: number): number | undefined {
  if (text[start] !== '{') return undefined;
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return undefined;
}

function readCall(text: string): BareCall | string {
  const json = parsedJson(text);
  if (!isRecord(json)) return `The call is not a JSON object: ${shape}.`;
  // Some write the object that the template describes tools with: {"type": "function", "function": {…}}.
  const call = isRecord(json['function']) ? json['function'] : json;
  const name = call['name'] ?? call['function'];
  return callOf(name, call['parameters'] ?? call['arguments'], 'parameters', shape);
}
