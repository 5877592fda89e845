import { createHash } from 'node:crypto';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { AssistantMessage } from '#agent_rl/core/message.ts';
import type { ActOptions, Policy } from '#agent_rl/core/plugins/policy.ts';
import type { Generator } from '#agent_rl/core/services/generator.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';

export const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

export const numberOf = (text: string): number => Number.parseInt(text.slice(0, 8), 16);

/** Calls the tool where what it drew is even. */
export class SimulatedPolicy implements Policy {
  constructor(private readonly generator: Generator) {}

  begin(conversation: readonly { content: string }[]): Transcript {
    const transcript = new Transcript();
    const random = new KeyedRng('prompt', conversation[0]!.content);
    transcript.append('user', Array.from(random.integers(4, 100)));
    return transcript;
  }

  async act(
    transcript: Transcript,
    { episode, sampling, maxTokens, key, version: wanted, signal }: ActOptions,
  ) {
    const request = {
      episode,
      sampling,
      maxTokens,
      key,
      version: wanted,
      tokens: [...transcript.tokens],
      stopTokens: [],
    };
    const { tokens, logProbs, stop, version } = await this.generator.generate(request, signal);
    transcript.appendSampled(tokens, logProbs, version);
    const text = tokens.join(' ');
    const toolCalls = [{ id: `call_${key.turn}_0`, name: 'look', arguments: { text } }];
    const isCall = tokens.length > 0 && tokens.at(-1)! % 2 === 0;
    const message: AssistantMessage = {
      role: 'assistant',
      content: text,
      ...(isCall && { toolCalls }),
    };
    const ended = stop === 'stop-token' ? ('end-of-turn' as const) : stop;
    return { message, sampledTokens: tokens.length, stop: ended };
  }

  observe(transcript: Transcript, messages: readonly { content: string }[]): void {
    for (const { content } of messages) transcript.append('tool', [numberOf(hash(content)) % 100]);
    transcript.append('template', [101]);
  }

  release(episode: string): void {
    this.generator.release(episode);
  }
}
