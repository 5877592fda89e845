import type { ExecutedCall, Turn } from '../core/plugins/environment.ts';
import type { Message } from '../core/message.ts';
import { Transcript } from '../core/transcript.ts';

/** What has happened so far in one episode. */
export class EpisodeLog {
  transcript = new Transcript();
  readonly messages: Message[] = [];
  readonly turns: Turn[] = [];
  readonly calls: ExecutedCall[] = [];
  malformedCalls = 0;
  readonly seconds = { generation: 0, tools: 0, grading: 0 };

  get invalidCalls(): number {
    return this.malformedCalls + this.calls.filter(({ status }) => status === 'rejected').length;
  }

  /** The part of a trajectory that is known before it is judged. */
  record() {
    const { messages, calls, malformedCalls, seconds } = this;
    const turns = this.turns.length;
    return { ...this.transcript.record(), messages, calls, turns, malformedCalls, seconds };
  }

  async timed<Value>(
    what: 'generation' | 'tools' | 'grading',
    work: () => Promise<Value>,
  ): Promise<Value> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.seconds[what] += (performance.now() - started) / 1000;
    }
  }
}
