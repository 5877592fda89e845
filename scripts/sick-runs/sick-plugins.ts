import {
  type AgentTurn,
  type EpisodeEnd,
  type EpisodeView,
  environment,
  type Environment,
  type EnvironmentStep,
  type Message,
  type MultiAgentEnvironment,
  type MultiAgentStart,
  type MultiAgentStep,
  reward,
  type Task,
  type Turn,
  Type,
  user,
  type Verdict,
} from 'agent_rl/plugin';

/*
 * What makes the runs of `sick-runs.ts` sick: copied into a project of `agent-rl new`, beside its plugins. Each is a
 * mistake that a user may make.
 */

/** Costs every call the same, right or wrong. */
export const callPrice = reward({
  name: 'call_price',
  description: 'Takes 0.8 off for each call.',
})(({ turns }: EpisodeView) => -0.8 * turns.flatMap((turn) => turn.calls).length);

/** Does not look at the episode. */
export const flat = reward({ name: 'flat', description: 'Pays the same for everything.' })(
  () => 0.5,
);

const noSettings = Type.Object({}, { additionalProperties: false });

const verdictOf = (end: EpisodeEnd, success: boolean): Verdict =>
  end === 'aborted'
    ? { outcome: 'aborted', reward: undefined, components: {}, success: false }
    : {
        outcome: success ? 'completed' : 'wrong-answer',
        reward: Number(success),
        components: { answer: Number(success) },
        success,
      };

const numbersIn = (text: string): string[] => text.match(/-?\d+(?:\.\d+)?/g) ?? [];

/** Takes any number for the right one. */
@environment({
  name: 'lenient',
  description: 'Convert a value to another unit and say a number.',
  settings: noSettings,
  requires: ['convert'],
  taskFormat: 'plain',
})
export class LenientEnvironment implements Environment {
  #answer = '';

  constructor(private readonly given: { task: Task }) {}

  async start(): Promise<Message[]> {
    return [user(this.given.task.prompt)];
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    if (calls.length > 0 || message.malformedCalls !== undefined) return { done: false };
    this.#answer = message.content;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    return verdictOf(end, numbersIn(this.#answer).length > 0);
  }
}

/** Two agents answer the same question: the first wins where the second is wrong. */
@environment({
  name: 'race',
  description: 'Be right where the rival is wrong.',
  agents: ['learner', 'rival'],
  settings: noSettings,
  requires: ['convert'],
  taskFormat: 'plain',
})
export class RaceEnvironment implements MultiAgentEnvironment {
  readonly #right = new Map<string, boolean>();

  constructor(private readonly given: { task: Task }) {}

  async start(): Promise<MultiAgentStart> {
    const asked = [user(this.given.task.prompt)];
    return { conversations: { learner: asked, rival: asked }, first: 'learner' };
  }

  async step({ agent, message, calls }: AgentTurn): Promise<MultiAgentStep> {
    if (calls.length > 0 || message.malformedCalls !== undefined)
      return { done: false, next: agent };
    const [said, ...more] = numbersIn(message.content);
    this.#right.set(agent, more.length === 0 && said === this.given.task.metadata['answer']);
    return agent === 'learner' ? { done: false, next: 'rival' } : { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Record<string, Verdict>> {
    const rival = this.#right.get('rival') === true;
    return {
      learner: verdictOf(end, this.#right.get('learner') === true && !rival),
      rival: verdictOf(end, rival),
    };
  }
}
