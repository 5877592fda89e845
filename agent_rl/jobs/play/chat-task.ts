import type {
  Environment,
  EnvironmentStep,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { user, type Message } from '../../core/message.ts';
import type { EpisodeMaker } from '../../rollout/episode-parts.ts';

/** A conversation with a person: it ends with the first turn that calls nothing, and is not judged. */
class ChatEnvironment implements Environment {
  constructor(private readonly prompt: string) {}

  start(): Promise<readonly Message[]> {
    return Promise.resolve([user(this.prompt)]);
  }

  step({ calls, message }: Turn): Promise<EnvironmentStep> {
    return Promise.resolve({
      done: calls.length === 0 && (message.malformedCalls?.length ?? 0) === 0,
    });
  }

  finish(): Promise<Verdict> {
    return Promise.resolve({ outcome: 'completed', reward: 0, components: {}, success: false });
  }
}

/** The agent's episodes with the conversation in place of its environment. */
export const chatTask =
  (make: EpisodeMaker, prompt: string): EpisodeMaker =>
  async (request) => ({
    ...(await make(request)),
    environment: new ChatEnvironment(prompt),
    rewards: [],
  });
