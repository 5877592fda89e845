import {
  type Environment,
  environment,
  type EnvironmentStep,
  type EpisodeEnd,
  type Message,
  type Task,
  type Turn,
  Type,
  user,
  type Verdict,
} from 'agent_rl/plugin';

interface Settings {
  successReward: number;
}

/** Asks one question. The first message without a call is the answer, and all that is judged. */
@environment({
  name: 'conversions',
  description: 'Convert a value to another unit and say the number.',
  settings: Type.Object(
    { successReward: Type.Number({ default: 1, description: 'For a right answer' }) },
    { additionalProperties: false },
  ),
  requires: ['convert'],
  // A line of the dataset is {"task_id", "prompt"} and whatever this environment wants besides.
  taskFormat: 'plain',
})
export class ConversionsEnvironment implements Environment {
  #answer = '';
  #calls = 0;

  constructor(private readonly given: { task: Task; settings: Settings }) {}

  async start(): Promise<Message[]> {
    return [user(this.given.task.prompt)];
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    this.#calls += calls.length;
    if (calls.length > 0 || message.malformedCalls !== undefined) return { done: false };
    this.#answer = message.content;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    const metrics = { calls: this.#calls };
    if (end === 'aborted') {
      return { outcome: 'aborted', reward: undefined, components: {}, success: false, metrics };
    }
    // One number, so that listing several earns nothing.
    const numbers = this.#answer.match(/-?\d+(?:\.\d+)?/g) ?? [];
    const success = numbers.length === 1 && numbers[0] === this.given.task.metadata['answer'];
    const reward = success ? this.given.settings.successReward : 0;
    return {
      outcome: success ? 'completed' : outcomes[end],
      reward,
      components: { answer: reward },
      success,
      metrics,
    };
  }
}

const outcomes = {
  done: 'wrong-answer',
  'turn-limit': 'truncated-turns',
  'token-limit': 'truncated-tokens',
  'invalid-calls': 'invalid-calls',
} as const;
