import type { RunResult, Sandbox } from '../../core/services/sandbox.ts';
import type { SandboxIncident } from '../incident.ts';

/**
 * A sandbox that asks once more, of another process, when it failed itself. What fails twice stays `sandbox_error`, which
 * no reward is made of. Sessions are not asked again: their variables are gone.
 */
export class RetryingSandbox implements Sandbox {
  #closed = false;

  constructor(
    private readonly inner: Sandbox,
    private readonly onIncident: (incident: SandboxIncident) => void,
  ) {}

  run: Sandbox['run'] = (request, signal) => this.#twice(() => this.inner.run(request, signal));

  calls: Sandbox['calls'] = (request, signal) =>
    this.#twice(() => this.inner.calls(request, signal));

  judge: Sandbox['judge'] = (request, signal) =>
    this.#twice(() => this.inner.judge(request, signal));

  openSession: Sandbox['openSession'] = (request) => this.inner.openSession(request);

  capabilities: Sandbox['capabilities'] = () => this.inner.capabilities();

  close(): Promise<void> {
    this.#closed = true;
    return this.inner.close();
  }

  async #twice<Result extends RunResult>(ask: () => Promise<Result>): Promise<Result> {
    const first = await ask();
    if (first.status !== 'sandbox_error' || this.#closed) return first;
    const why = first.message ?? 'the sandbox failed';
    this.onIncident({ kind: 'retry', message: `A program is run once more: ${why}` });
    return ask();
  }
}
