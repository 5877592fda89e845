import type { AssistantMessage } from '../../core/message.ts';
import type { ActOptions, Policy, PolicyTurn } from '../../core/plugins/policy.ts';
import { Transcript } from '../../core/transcript.ts';

const anyToken = 1;

/** A policy without a model: says its given text, turn by turn, and then nothing. One token stands for a turn. */
export class Attacker implements Policy {
  constructor(private readonly turns: readonly AssistantMessage[]) {}

  begin(): Transcript {
    const transcript = new Transcript();
    transcript.append('user', [anyToken]);
    return transcript;
  }

  async act(transcript: Transcript, { key }: ActOptions): Promise<PolicyTurn> {
    transcript.appendSampled([anyToken], [0], 0);
    const message = this.turns[key.turn] ?? { role: 'assistant', content: '' };
    return { message, sampledTokens: 1, stop: 'end-of-turn' };
  }

  observe(transcript: Transcript): void {
    transcript.append('tool', [anyToken]);
  }

  release(): void {
    // It keeps nothing.
  }
}
