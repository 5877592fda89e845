import { AgentRlError } from '../../core/errors.ts';
import type { StartGate } from './rate-limit.ts';
import type { CommonWebSettings } from './settings.ts';

/** Counts every attempt, a repeated one too, since providers may bill it, and lets none begin that is too many. */
export class Budget {
  #calls = 0;

  constructor(
    private readonly gate: StartGate,
    private readonly limits: NonNullable<CommonWebSettings['budget']>,
  ) {}

  get calls(): number {
    return this.#calls;
  }

  get cost(): number {
    return this.#calls * this.limits.costPerCall;
  }

  /** Passes the gate. @throws AgentRlError `WEB_BUDGET_SPENT` */
  async start(signal: AbortSignal): Promise<void> {
    // Also before waiting: no call queues for what is not available.
    this.#requireRoom();
    await this.gate(signal);
    this.#requireRoom();
    this.#calls += 1;
  }

  #requireRoom(): void {
    const { maxCalls, maxCost, costPerCall } = this.limits;
    const calls = this.#calls;
    if (maxCalls !== undefined && calls >= maxCalls) {
      throw spent(`budget.maxCalls = ${maxCalls}`, calls);
    }
    // Prices such as 0.008 have no exact binary form: a call must not be lost to rounding.
    const next = (calls + 1) * costPerCall;
    if (maxCost !== undefined && next > maxCost * (1 + 1e-9)) {
      throw spent(`budget.maxCost = ${maxCost} at ${costPerCall} a call`, calls);
    }
  }
}

const spent = (limit: string, calls: number): AgentRlError =>
  new AgentRlError(
    'WEB_BUDGET_SPENT',
    `The web budget is spent after ${calls} calls (${limit}). Raise the budget, or record a cassette: recorded answers cost nothing.`,
  );
