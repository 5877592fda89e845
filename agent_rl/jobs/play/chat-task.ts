import type {
  Environment,
  EnvironmentStep,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { user, type Message } from '../../core/message.ts';
import type { EpisodeLimits, EpisodeMaker } from '../../rollout/episode-parts.ts';

export interface Chat {
  /** What the person says first. */
  prompt: string;
  /** What the person says to a turn that calls nothing; `undefined` ends the episode. */
  reply?: () => Promise<string | undefined>;
  /** Shows a turn of the policy, with what its calls gave, before the person replies. */
  onTurn?: (turn: Turn) => void;
  /** In place of those of the run. */
  limits?: Partial<EpisodeLimits>;
}

/** A person as the environment: says the prompt, replies until nothing is left to say, and does not judge. */
class ChatEnvironment implements Environment {
  constructor(private readonly chat: Chat) {}

  start(): Promise<readonly Message[]> {
    return Promise.resolve([user(this.chat.prompt)]);
  }

  async step(turn: Turn): Promise<EnvironmentStep> {
    this.chat.onTurn?.(turn);
    const { calls, message } = turn;
    if (calls.length > 0 || (message.malformedCalls?.length ?? 0) > 0) return { done: false };
    const reply = await this.chat.reply?.();
    return reply === undefined ? { done: true } : { done: false, messages: [user(reply)] };
  }

  finish(): Promise<Verdict> {
    return Promise.resolve({ outcome: 'completed', reward: 0, components: {}, success: false });
  }
}

/** The agent's episodes with a person in place of their environment. */
export const chatTask =
  (make: EpisodeMaker, chat: Chat): EpisodeMaker =>
  async (request) => {
    const parts = await make(request);
    return {
      ...parts,
      environment: new ChatEnvironment(chat),
      rewards: [],
      limits: { ...parts.limits, ...chat.limits },
    };
  };
