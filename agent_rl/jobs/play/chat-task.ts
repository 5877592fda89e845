import type { Environment, Turn } from '../../core/plugins/environment.ts';
import { type Message, user } from '../../core/message.ts';
import type { EpisodeLimits, EpisodeMaker } from '../../rollout/episode-parts.ts';
import { type World, worldOfOne } from '../../rollout/world.ts';

export interface Chat {
  /** What the person says first, or how the conversation begins. */
  prompt: string | readonly Message[];
  /** What the person says to a turn that calls nothing; `undefined` ends the episode. */
  reply?: () => Promise<string | undefined>;
  /** Shows a turn of the policy, with what its calls gave, before the person replies. */
  onTurn?: (turn: Turn) => void;
  /** Instead of the limits of the run. */
  limits?: Partial<EpisodeLimits>;
}

/** A person as the environment: says the prompt, replies until nothing is left to say, and does not judge. */
const chatEnvironment = (chat: Chat): Environment => ({
  start: async () => (typeof chat.prompt === 'string' ? [user(chat.prompt)] : chat.prompt),
  step: async (turn) => {
    chat.onTurn?.(turn);
    const { calls, message } = turn;
    if (calls.length > 0 || (message.malformedCalls?.length ?? 0) > 0) return { done: false };
    const reply = await chat.reply?.();
    return reply === undefined ? { done: true } : { done: false, messages: [user(reply)] };
  },
  finish: async () => ({ outcome: 'completed', reward: 0, components: {}, success: false }),
});

/** The agent's episodes with a person instead of their environment. */
export const chatTask =
  (make: EpisodeMaker, chat: Chat): EpisodeMaker =>
  async (request) => {
    const parts = await make(request);
    return {
      ...parts,
      world: worldOfOne(chatEnvironment(chat)),
      rewards: [],
      limits: { ...parts.limits, ...chat.limits },
    };
  };

/** The episodes of an agent with a loop of its own, which are not judged, and what it answered last. */
export function ownLoopTask(make: EpisodeMaker): { make: EpisodeMaker; answer: () => unknown } {
  const chat = worldOfOne(chatEnvironment({ prompt: '' }));
  let last: unknown;
  const unjudged: EpisodeMaker = async (request) => {
    const parts = await make(request);
    const world: World = {
      ...parts.world,
      finish: async (end, signal, agent, answer) => {
        last = answer;
        return chat.finish(end, signal, agent);
      },
    };
    return { ...parts, world, rewards: [] };
  };
  return { make: unjudged, answer: () => last };
}
