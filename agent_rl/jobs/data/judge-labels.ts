import type { Message } from '../../core/message.ts';
import { onlyAgent } from '../../core/rollout.ts';
import type { EpisodeView } from '../../core/plugins/reward.ts';
import { isRecord } from '../../core/is-record.ts';
import { exactTwin } from '../../../dataset/tables/json-lines.ts';
import { messagesReader } from '../../../dataset/demonstrations/conversations.ts';
import type { ReadRow } from '../token-files/input-rows.ts';
import { type Fields, fieldsOf } from '../token-files/row-ids.ts';

/** An episode and what a person says of it, from 0 (wrong) to 1 (right). */
export interface LabelledEpisode {
  episode: EpisodeView;
  label: number;
}

/** A line with every digit of its answer. */
export function parseLabelled(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const { exact } = exactTwin(json);
  return isRecord(value) && isRecord(exact) ? { ...value, answer: exact['answer'] } : value;
}

/**
 * Reads `{"prompt": "…", "response": "…", "label": 0.5, "answer"?: "…", "aliases"?: ["…"]}`, or with `messages` instead of
 * `response`.
 */
export function readLabelledEpisode(): ReadRow<LabelledEpisode> {
  const readMessages = messagesReader();
  const names = ['prompt', 'response', 'messages', 'label', 'answer', 'aliases'];
  return (value, report) => {
    const fields = fieldsOf(value, names, report);
    if (fields === undefined) return undefined;
    const { prompt, response, label, answer, aliases = [] } = fields;
    if (typeof prompt !== 'string' || prompt === '') report('prompt', 'must be a string.');
    if (typeof label !== 'number' || !(label >= 0 && label <= 1))
      report('label', 'must be a number from 0 (wrong) to 1 (right).');
    if (answer !== undefined && typeof answer !== 'string' && typeof answer !== 'number')
      report('answer', 'must be a string or a number.');
    if (!Array.isArray(aliases) || aliases.some((alias) => typeof alias !== 'string'))
      report('aliases', 'must be a list of strings.');
    if ((response === undefined) === (fields['messages'] === undefined))
      report('', 'needs either response or messages.');
    else if (response !== undefined && typeof response !== 'string')
      report('response', 'must be a string.');
    const messages =
      response === undefined ? readMessages(fields['messages'], report) : answered(fields);
    if (messages === undefined) return undefined;
    return { label: Number(label), episode: episodeOf(fields, messages) };
  };
}

const answered = ({ prompt, response }: Fields): readonly Message[] => [
  { role: 'user', content: String(prompt) },
  { role: 'assistant', content: String(response) },
];

/** An episode that says nothing of how it was judged: a reward is to find out. */
const episodeOf = (fields: Fields, messages: readonly Message[]): EpisodeView => ({
  task: {
    taskId: 'labelled',
    prompt: String(fields['prompt']),
    metadata: { answer: fields['answer'], aliases: fields['aliases'] },
  },
  agent: onlyAgent,
  messages,
  turns: [],
  answer: messages.findLast(({ role }) => role === 'assistant')?.content,
  verdict: { outcome: 'wrong-answer', reward: 0, components: {}, success: false },
});
