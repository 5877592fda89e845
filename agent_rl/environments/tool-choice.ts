import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  Turn,
  Verdict,
} from '../core/plugins/environment.ts';
import type { AssistantMessage, Message, ToolCall } from '../core/message.ts';

/**
 * An environment among several: the policy must find out which tool a task needs, and the metric `toolChoiceRight` says
 * whether its first call was of a tool that the environment requires.
 */
export class ToolChoice implements Environment {
  #firstTool: string | undefined;

  constructor(
    private readonly inner: Environment,
    private readonly wanted: readonly string[],
  ) {}

  start(signal: AbortSignal): Promise<readonly Message[]> {
    return this.inner.start(signal);
  }

  async receive(message: AssistantMessage, signal: AbortSignal): Promise<void> {
    await this.inner.receive?.(message, signal);
  }

  toolInputs(call: ToolCall): Readonly<Record<string, unknown>> {
    return this.inner.toolInputs?.(call) ?? {};
  }

  step(turn: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    this.#firstTool ??= turn.calls[0]?.call.name;
    return this.inner.step(turn, signal);
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const verdict = await this.inner.finish(end, signal);
    const toolUsed = this.#firstTool === undefined ? 0 : 1;
    const right = this.#firstTool !== undefined && this.wanted.includes(this.#firstTool);
    return {
      ...verdict,
      metrics: { ...verdict.metrics, toolChoiceRight: right ? 1 : 0, toolUsed },
    };
  }
}
