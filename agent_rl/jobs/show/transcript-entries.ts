import type { Message } from '../../core/message.ts';
import type { EpisodeRecord } from '../../runs/episodes/read-episodes.ts';

/** One thing that was said or done in an episode. */
export interface TranscriptEntry {
  who: 'system' | 'user' | 'thought' | 'assistant' | 'call' | 'tool' | 'failure' | 'note';
  /** What stands above it, such as the name of the tool. */
  label: string;
  text: string;
}

/** What was said and done in an episode, in order. */
export function entriesOf(episode: EpisodeRecord): TranscriptEntry[] {
  const { messages, problem } = episode;
  const said = messages.flatMap((message) => entriesOfMessage(message, episode));
  return problem === null ? said : [...said, { who: 'failure', label: 'problem', text: problem }];
}

function entriesOfMessage(message: Message, { toolCalls }: EpisodeRecord): TranscriptEntry[] {
  const { role, content } = message;
  if (role === 'tool') {
    const { status = 'ok', wallMs } = toolCalls.find(({ id }) => id === message.callId) ?? {};
    const failed = status !== 'ok';
    const took = wallMs === undefined ? '' : `, ${wallMs.toFixed(0)} ms`;
    const label = `${message.name}${failed ? `: ${status}` : ''}${took}`;
    return [{ who: failed ? 'failure' : 'tool', label, text: content }];
  }
  if (role !== 'assistant') return [{ who: role, label: role, text: content }];
  const { reasoning = '', toolCalls: calls = [], malformedCalls = [] } = message;
  return [
    ...(reasoning === ''
      ? []
      : [{ who: 'thought', label: 'assistant, thinking', text: reasoning } as const]),
    ...(content === '' ? [] : [{ who: role, label: role, text: content } as const]),
    ...calls.map((call): TranscriptEntry => ({
      who: 'call',
      label: `assistant calls ${call.name}`,
      text: argumentsText(call.arguments),
    })),
    ...malformedCalls.map((call): TranscriptEntry => ({
      who: 'failure',
      label: `a malformed call: ${call.problem}`,
      text: call.text,
    })),
  ];
}

/** Text as it is and the rest as JSON; of a single argument the value alone. */
function argumentsText(given: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(given).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  const [only] = values;
  if (only !== undefined && values.length === 1) return only[1];
  return values.map(([name, value]) => `${name}: ${value}`).join('\n');
}

/** An entry as lines of text. */
export const entryText = ({ label, text }: Pick<TranscriptEntry, 'label' | 'text'>): string =>
  [...(label === '' ? [] : [`[${label}]`]), ...text.split('\n').map((line) => `  ${line}`)].join(
    '\n',
  );
