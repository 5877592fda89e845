import { type Static, Type } from '../core/typebox.ts';
import { flag } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { finalAnswer } from './final-answer.ts';

const Settings = Type.Object({
  thought: flag('Require each turn to open with a thought', true),
  call: flag('Require a tool call; without one the reward is 0', true),
  contains: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Texts that the final message must contain, such as \\boxed{',
  }),
});

type FormatSettings = Static<typeof Settings>;

const share = (marks: readonly boolean[]): number =>
  marks.filter(Boolean).length / Math.max(1, marks.length);

/**
 * How well an episode keeps to the format: the share of the policy's turns that open with a thought and the share of
 * the wanted texts in its final message, their mean where both are asked for, and 0 without a call where one is.
 */
export const format = reward({
  name: 'format',
  description: 'How well turns, calls and the final message keep to the requested format',
  settings: Settings,
  blind: true,
})(({ messages, turns }: EpisodeView, { thought, call, contains }: FormatSettings): number => {
  const called = turns.some((turn) => turn.calls.some(({ status }) => status !== 'rejected'));
  if (call && !called) return 0;
  const said = messages.filter((message) => message.role === 'assistant');
  const answer = finalAnswer(messages) ?? '';
  const parts = [
    ...(thought ? [share(said.map(({ reasoning = '' }) => reasoning.trim() !== ''))] : []),
    ...(contains.length > 0 ? [share(contains.map((text) => answer.includes(text)))] : []),
  ];
  if (parts.length === 0) return 1;
  return parts.reduce((sum, part) => sum + part, 0) / parts.length;
});
