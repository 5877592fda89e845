import {
  type Environment,
  environment,
  type EpisodeEnd,
  type Task,
  type Turn,
  Type,
  user,
  verdict,
} from 'agent_rl/plugin';

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

  constructor(private readonly given: { task: Task; settings: { successReward: number } }) {}

  async start() {
    return [user(this.given.task.prompt)];
  }

  async step({ message, calls }: Turn) {
    this.#calls += calls.length;
    if (calls.length > 0 || message.malformedCalls !== undefined) return { done: false };
    this.#answer = message.content;
    return { done: true };
  }

  async finish(end: EpisodeEnd) {
    // One number, so that listing several earns nothing.
    const numbers = this.#answer.match(/-?\d+(?:\.\d+)?/g) ?? [];
    const success = numbers.length === 1 && numbers[0] === this.given.task.metadata['answer'];
    const answer = success ? this.given.settings.successReward : 0;
    return verdict(end, { success, components: { answer }, metrics: { calls: this.#calls } });
  }
}
