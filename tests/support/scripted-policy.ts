import type {
  AssistantMessage,
  Message,
  ToolMessage,
  UserMessage,
} from '#agent_rl/core/message.ts';
import type { ActOptions, Policy, PolicyTurn } from '#agent_rl/core/plugins/policy.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';

/** What a scripted turn says; `tokens` defaults to three. */
interface ScriptedTurn extends Partial<PolicyTurn> {
  message: AssistantMessage;
  tokens?: readonly number[];
}

/** Decides a turn from its key alone, so that who plays it and when makes no difference. */
export type Script = (
  options: ActOptions,
  heard: readonly Message[],
) => ScriptedTurn | Promise<ScriptedTurn>;

/** An honest policy without a model: says what its script says, with made-up tokens and log-probabilities. */
export class ScriptedPolicy implements Policy {
  readonly released: string[] = [];
  readonly observed: (ToolMessage | UserMessage)[] = [];
  readonly offered: string[][] = [];
  readonly maxTokens: number[] = [];
  readonly #heard = new WeakMap<Transcript, Message[]>();

  constructor(
    private readonly script: Script,
    private readonly promptTokens = 4,
  ) {}

  begin(conversation: readonly Message[], tools: readonly { name: string }[]): Transcript {
    this.offered.push(tools.map(({ name }) => name));
    const transcript = new Transcript();
    const prompt = Array.from({ length: this.promptTokens }, (_, i) => i + 1);
    transcript.append('user', prompt);
    this.#heard.set(transcript, [...conversation]);
    return transcript;
  }

  async act(transcript: Transcript, options: ActOptions): Promise<PolicyTurn> {
    this.maxTokens.push(options.maxTokens);
    const turn = await this.script(options, this.#heard.get(transcript) ?? []);
    const { message, tokens = [100 + options.key.turn, 7, 2], stop = 'end-of-turn' } = turn;
    const logProbs = tokens.map((token) => -token / 100);
    transcript.appendSampled(tokens, logProbs, 1);
    return { message, stop, sampledTokens: tokens.length };
  }

  observe(transcript: Transcript, messages: readonly (ToolMessage | UserMessage)[]): void {
    this.observed.push(...messages);
    this.#heard.get(transcript)?.push(...messages);
    for (const { role } of messages) transcript.append(role, [50, 51]);
    transcript.append('template', [3]);
  }

  release(episode: string): void {
    this.released.push(episode);
  }
}

/** An assistant message, with calls by name and arguments. */
export function says(
  content: string,
  ...calls: readonly (readonly [name: string, args: Record<string, unknown>])[]
): AssistantMessage {
  const toolCalls = calls.map(([name, args], i) => ({ id: `call_0_${i}`, name, arguments: args }));
  return { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) };
}
