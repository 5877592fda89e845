import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  type TemplateSample,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import { isRecord } from '../../core/is-record.ts';
import { pythonJson } from '../../core/python/python-json.ts';
import {
  callOf,
  isOnly,
  parsedJson,
  splitThoughts,
  type Stretch,
  TurnReading,
} from './read-turn.ts';

const [openCall, closeCall] = ['<tool_call>', '</tool_call>'];

/**
 * Calls as Hermes and Qwen models write them: `<tool_call>`, a JSON object with `name` and `arguments`,
 * `</tool_call>`. A call inside a thought is not a call.
 */
@toolCallFormat({
  name: 'hermes',
  description:
    'JSON between <tool_call> and </tool_call>, as Qwen, MiniMind and Hermes models write it.',
})
export class HermesFormat implements ToolCallFormat {
  readonly opensCall = [openCall];

  read({ text, turn, inThought }: Omit<SampledTurn, 'tools'>): AssistantMessage {
    const { spoken, thoughts } = splitThoughts(text, inThought, closedCall);
    const reading = new TurnReading(turn, thoughts);
    let from = 0;
    for (;;) {
      const open = spoken.indexOf(openCall, from);
      reading.say(spoken.slice(from, open < 0 ? undefined : open));
      if (open < 0) return reading.message();
      const block = callBlock(spoken, open + openCall.length);
      from = block.end;
      const read = block.closed
        ? readCall(block.body)
        : `The call is not closed: end it with ${closeCall}.`;
      reading.call(spoken.slice(open, block.end), read);
    }
  }

  print({ name, arguments: args, written }: BareCall): string {
    return `${openCall}\n{"name": ${JSON.stringify(name)}, "arguments": ${pythonJson(args, written)}}\n${closeCall}`;
  }

  fits({ turn, call }: TemplateSample): boolean {
    return turn !== undefined && isOnly(this.read({ text: turn, turn: 0, inThought: false }), call);
  }
}

/** The next call that is closed; a mark of a thought inside its JSON is an argument's text. */
function closedCall(text: string, from: number): Stretch | undefined {
  const start = text.indexOf(openCall, from);
  if (start < 0) return undefined;
  const block = callBlock(text, start + openCall.length);
  return block.closed ? { start, end: block.end } : undefined;
}

interface CallBlock {
  body: string;
  /** Index after the block. */
  end: number;
  closed: boolean;
}

/**
 * The block of a call that opens before `start`. Marks inside a JSON string belong to the string; JSON strings
 * hold no raw line breaks, so one that meets a line break is broken and the first closing mark counts after all.
 */
function callBlock(text: string, start: number): CallBlock {
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
      else if (character === '\n') break;
    } else if (character === '"') inString = true;
    else if (text.startsWith(closeCall, i)) return closedAt(text, start, i);
    else if (text.startsWith(openCall, i)) return { body: '', end: i, closed: false };
  }
  const close = text.indexOf(closeCall, start);
  const next = text.indexOf(openCall, start);
  if (close >= 0 && (next < 0 || close < next)) return closedAt(text, start, close);
  return { body: '', end: next < 0 ? text.length : next, closed: false };
}

function closedAt(text: string, start: number, close: number): CallBlock {
  return { body: text.slice(start, close), end: close + closeCall.length, closed: true };
}

function readCall(body: string): BareCall | string {
  const call = parsedJson(body);
  const shape = 'write {"name": "…", "arguments": {…}}';
  if (call === undefined) return `The call is not valid JSON: ${shape}.`;
  if (!isRecord(call)) return `The call is not a JSON object: ${shape}.`;
  return callOf(call['name'], call['arguments'], 'arguments', shape);
}
