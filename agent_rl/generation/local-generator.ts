import { AgentRlError } from '../core/errors.ts';
import {
  type Generation,
  type GenerationRequest,
  type GenerationTotals,
  noGenerationTotals,
  type Sampler,
  truncates,
} from '../core/services/generator.ts';
import type { Weights } from '../../model/config/parameters.ts';
import { windowTokens } from '../../model/decoder/windows.ts';
import { type Drawn, drawTruncated } from './draw-truncated.ts';
import type { DecoderPrograms } from './programs/decoder-programs.ts';
import { Drafts } from './drafts/drafts.ts';
import { type Feed, type Feeds, feedsOf, windowsOfSlots } from './drafts/feeds.ts';
import { knownContextBytes, type ComputedContext, KnownContexts } from './known-contexts.ts';
import { firstOfEach, drawnAfter, drawsFromWhole, nextOf } from './next-tokens.ts';
import { Lanes, type LanesStep, type LanesSteps } from './lanes.ts';
import { PrefixCache } from './prefix-cache.ts';
import { publishedWhileDrawing } from './published-while-drawing.ts';
import { stepsOfNextRun } from './several-steps.ts';
import { ActiveRequest, Slot } from './slot.ts';
import { append } from '../core/long-lists.ts';

const failed = (problem: string): AgentRlError => new AgentRlError('GENERATION_FAILED', problem);

export interface LocalGeneratorOptions {
  /** Most episodes held at once; more wait for a row. */
  rows: number;
  /** Positions per row: prompt, turns and tool results together. Rounded up to a multiple of 16. */
  maxContextTokens: number;
}

const prefixesKept = 64;

/**
 * Continuous batching on the local engine.
 *
 * Each episode has a row of the key-value cache for its whole life. Every step feeds one token of every active row: one of the context
 * that is not cached yet, or the one just drawn. A row whose request ends is idle until the episode's next turn, which continues where
 * it stopped, or until `release` frees it for a waiting episode. For a device that every input is copied to, a run is several steps.
 *
 * An episode's first context is computed by one prefill, shared by equal prompts, and everything after it by steps, or by chunks that
 * have the bits of steps: on the processor, what a row computes is a function of its own tokens alone, whatever shares the batch. Of
 * rows with the same context one is computed; the others take its keys and values, and draw their own tokens from what it computed.
 */
export class LocalGenerator implements Sampler {
  readonly maxContextTokens: number;
  readonly #lanes: Lanes;
  readonly #slots = new Map<string, Slot>();
  readonly #waiting: ActiveRequest[] = [];
  readonly #prefixes: PrefixCache;
  readonly #known: KnownContexts;
  readonly #drafts = new Drafts();
  readonly #totals = { ...noGenerationTotals };
  #version = 0;
  /** Rows to free before the next step: what is under way still writes to them. */
  readonly #released: Slot[] = [];
  /** The request that is being given a row. */
  #placing: ActiveRequest | undefined;
  /** Requests that were not answered yet. */
  #unsettled = 0;
  #pumping = false;

  constructor(
    private readonly programs: DecoderPrograms,
    options: LocalGeneratorOptions,
  ) {
    const rows = programs.tokensOf(options.rows);
    this.maxContextTokens = Math.ceil(options.maxContextTokens / 16) * 16;
    this.#lanes = new Lanes(programs, rows, this.maxContextTokens);
    // Prompts that are kept take no more memory than the rows themselves.
    const tokens = rows * this.maxContextTokens;
    this.#prefixes = new PrefixCache({ prefixes: prefixesKept, tokens });
    // Of several steps at once, nothing is fetched that other episodes could draw from.
    const known = programs.stepsAtOnce > 1 ? 0 : knownContextBytes(this.#lanes.bytes);
    this.#known = new KnownContexts(known);
  }

  get totals(): GenerationTotals {
    return { ...this.#totals };
  }

  get cacheBytes(): number {
    return this.#lanes.bytes;
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    this.#unsettled += 1;
    const generation = new Promise<Generation>((resolve, reject) => {
      this.#waiting.push(new ActiveRequest(request, signal, { resolve, reject }));
    });
    void this.#pump();
    return generation.finally(() => {
      this.#unsettled -= 1;
    });
  }

  release(episode: string): void {
    for (const active of this.#waiting.filter(({ request }) => request.episode === episode)) {
      this.#waiting.splice(this.#waiting.indexOf(active), 1);
      active.finish('aborted', this.#version);
    }
    const slot = this.#slots.get(episode);
    if (slot !== undefined) this.#giveUp(slot);
    if (this.#placing?.request.episode === episode) this.#placing.abandoned = true;
    void this.#pump();
  }

  /**
   * Generates with other weights from now on. What was computed with the old ones is forgotten.
   *
   * @throws AgentRlError `GENERATION_FAILED` while requests are in flight: a turn never mixes two versions.
   */
  async setWeights(parameters: Weights, version: number): Promise<void> {
    if (this.#unsettled > 0) throw publishedWhileDrawing();
    this.#prefixes.clear();
    this.#known.clear();
    // Rows of episodes between two turns too: the next turn computes its context anew.
    for (const slot of this.#slots.values()) this.#close(slot);
    this.#slots.clear();
    // A request that comes while programs are disposed draws with the new weights already.
    this.#version = version;
    await this.programs.setWeights(parameters);
  }

  #activeSlots(): Slot[] {
    return this.#lanes.slots.filter(({ active }) => active !== undefined);
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    // A run of several steps is worth waiting for what is asked for with the first request.
    if (this.programs.stepsAtOnce > 1) await new Promise((resolve) => setImmediate(resolve));
    try {
      for (;;) {
        for (const slot of this.#released.splice(0)) this.#lanes.remove(slot);
        await this.#admit();
        for (const slot of this.#activeSlots())
          if (slot.active?.signal?.aborted === true) this.#giveUp(slot);
        if (this.#activeSlots().length === 0) break;
        const started = performance.now();
        for (const slot of this.#activeSlots()) {
          this.#follow(slot);
          slot.leaveUnlessAwaited();
        }
        await this.#step();
        this.#totals.totalS += (performance.now() - started) / 1000;
        // Lets requests, releases and aborts that arrived meanwhile take effect.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (problem) {
      this.#failAll(problem);
    } finally {
      this.#pumping = false;
    }
    if (this.#canAdmit()) void this.#pump();
  }

  #failAll(problem: unknown): void {
    for (const request of this.#waiting.splice(0)) request.settle.reject(problem);
    for (const slot of this.#activeSlots()) {
      slot.active?.settle.reject(problem);
      this.#giveUp(slot);
    }
  }

  /** Ends a turn and frees its row, which holds a part of the turn: an episode may ask for the whole turn again. */
  #giveUp(slot: Slot): void {
    this.#end(slot, 'aborted');
    this.#slots.delete(slot.episode);
    this.#close(slot);
  }

  #canAdmit(): boolean {
    const hasFreeRow = this.#lanes.hasFreeRow || this.#released.length > 0;
    return this.#waiting.some(({ request }) => hasFreeRow || this.#slots.has(request.episode));
  }

  /** Gives rows to waiting requests, in order of arrival; requests of episodes that have a row never wait. */
  async #admit(): Promise<void> {
    // One by one: what is released meanwhile must be found among those that wait.
    for (let left = this.#waiting.length; left > 0; left--) {
      const active = this.#waiting.shift();
      if (active === undefined) return;
      this.#placing = active;
      try {
        if (!(await this.#place(active))) this.#waiting.push(active);
      } catch (problem) {
        active.settle.reject(problem);
      } finally {
        this.#placing = undefined;
      }
    }
  }

  async #place(active: ActiveRequest): Promise<boolean> {
    const { episode, tokens, maxTokens } = active.request;
    if (tokens.length === 0)
      throw failed(`Episode ${episode} requested tokens after an empty context.`);
    const finished = (stop: Generation['stop']): true => {
      active.finish(stop, this.#version);
      return true;
    };
    if (maxTokens <= 0) return finished('max-tokens');
    if (tokens.length >= this.maxContextTokens) return finished('context-full');
    if (active.signal?.aborted === true) return finished('aborted');
    const held = this.#slots.get(episode);
    if (held?.isAskedAgain(tokens) === true) this.#giveUp(held);
    const slot = this.#slots.get(episode) ?? (await this.#openSlot(active.request));
    if (slot === undefined) return false;
    if (active.abandoned) return finished('aborted');
    if (slot.active !== undefined || !slot.isPrefixOf(tokens)) {
      throw failed(
        `Episode ${episode} requested tokens after a context that does not continue its previous one, or it sent two requests at once.`,
      );
    }
    slot.beginTurn(active);
    return true;
  }

  async #openSlot({
    episode,
    tokens,
    opening = tokens.length,
  }: GenerationRequest): Promise<Slot | undefined> {
    if (!this.#lanes.hasFreeRow) return undefined;
    const prefix = tokens.slice(0, opening - 1);
    const computed =
      prefix.length > 0 &&
      (await this.#prefixes.get(prefix, () => {
        this.#totals.prefilledTokens += prefix.length;
        return this.programs.prefill(prefix);
      }));
    const slot = new Slot(episode, this.#known.enter(prefix));
    this.#lanes.add(slot);
    if (computed) this.#lanes.load(slot, computed);
    append(slot.cached, prefix);
    this.#slots.set(episode, slot);
    if (this.#placing?.abandoned === true) this.release(episode);
    return slot;
  }

  /** Its row is free after what is under way. */
  #close(slot: Slot): void {
    slot.context = undefined;
    this.#known.leave(slot.start);
    this.#released.push(slot);
  }

  /** Takes what other episodes computed of this one's context, and draws from it, until nothing more is known. */
  #follow(slot: Slot): void {
    for (;;) {
      const [token] = slot.pending;
      const known = token === undefined ? undefined : slot.context?.after.get(token);
      if (token === undefined || known?.kv === undefined) return;
      const isLast = slot.pending.length === 1;
      const drawn = isLast ? drawnAfter(known, slot.active) : undefined;
      if (isLast && drawn === undefined) return;
      this.#lanes.load(slot, known.kv);
      slot.cached.push(token);
      slot.pending.shift();
      slot.context = known;
      this.#totals.sharedTokens += 1;
      if (drawn !== undefined) this.#take(slot, drawn);
    }
  }

  #end(slot: Slot, stop: Generation['stop']): void {
    const { active, cached } = slot;
    const drawn = active?.tokens ?? [];
    const last = drawn.at(-1);
    if (last !== undefined)
      this.#drafts.learn(cached.concat(last), cached.length + 1 - drawn.length);
    active?.finish(stop, this.#version);
    slot.endTurn(last);
  }

  /** Feeds a window to rows that are to be fed a long text, and then a few tokens to the others, which draw on between its windows. */
  async #step(): Promise<void> {
    const { stepsAtOnce } = this.programs;
    const long = this.#activeSlots().filter((slot) => this.programs.fillsWindows(slot));
    if (long.length > 0) await this.#feed(windowsOfSlots(firstOfEach(long)));
    const feeding = this.#activeSlots().filter((slot) => !long.includes(slot));
    if (feeding.length === 0) return undefined;
    const count = stepsOfNextRun(feeding, stepsAtOnce);
    if (count > 1) return this.#severalSteps(feeding, count);
    const slots = firstOfEach(feeding);
    const tokensOf = (fed: number): number => this.programs.tokensOf(fed);
    const widths = this.programs.widths(slots.length);
    return this.#feed(feedsOf(slots, { widths, tokensOf, drafts: this.#drafts }));
  }

  async #feed({ feeds, width }: Feeds): Promise<void> {
    const wholeRows = feeds.some(drawsFromWhole);
    const step = await this.#lanes.step(feeds, { width, wholeRows });
    for (const feed of feeds) this.#settle(feed, step, width);
    this.#totals.runS += step.runS;
    this.#totals.steps += 1;
  }

  async #severalSteps(slots: readonly Slot[], count: number): Promise<void> {
    const steps = await this.#lanes.steps(slots, count);
    for (const slot of slots) this.#settleSteps(slot, steps);
    this.#totals.runS += steps.runS;
    this.#totals.steps += steps.count;
  }

  /** Takes what several steps computed of a slot, up to the end of its turn. */
  #settleSteps(slot: Slot, steps: LanesSteps): void {
    // Released meanwhile.
    if (slot.active === undefined) return;
    const at = slot.cached.length;
    let length = 0;
    for (; length < steps.count && slot.pending.length > 0; length++) {
      const isLast = slot.pending.length === 1;
      slot.cached.push(slot.pending.shift()!);
      if (isLast) this.#take(slot, steps.drawnIn(slot.row, length));
    }
    this.#totals.fedTokens += length;
    steps.keep(slot.row, { at, length });
  }

  /** Takes what a step computed of the tokens fed to a slot, up to the first guess that was wrong. */
  #settle({ slot, tokens }: Feed, step: LanesStep, width: number): void {
    // Released meanwhile.
    if (slot.active === undefined) return;
    const certain = slot.pending.length;
    for (const [place, token] of tokens.entries()) {
      const isGuess = place >= certain;
      // None where the turn has ended.
      const [wanted] = slot.pending;
      if (isGuess) {
        this.#totals.draftedTokens += 1;
        if (wanted !== undefined) this.#drafts.count(token === wanted);
      }
      if (token !== wanted) return;
      if (isGuess) this.#totals.acceptedTokens += 1;
      this.#totals[width === windowTokens ? 'prefilledTokens' : 'fedTokens'] += 1;
      const isLast = slot.pending.length === 1;
      slot.pending.shift();
      this.#learn(slot, token, {
        kv: (copy) => step.fedIn(slot.row, place, copy),
        next: isLast ? nextOf(slot, step, place) : undefined,
      });
      slot.cached.push(token);
      if (isLast) this.#draw(slot, step, place);
    }
  }

  /** Lets others know what was computed of a slot's next token. */
  #learn(slot: Slot, token: number, computed: ComputedContext): void {
    slot.context = slot.context && this.#known.add(slot.context, token, computed);
  }

  #draw(slot: Slot, step: LanesStep, place: number): void {
    const { active } = slot;
    if (active === undefined) return;
    const { sampling } = active.request;
    let drawn: Drawn = step.drawnIn(slot.row, place);
    if (step.wholeIn !== undefined && truncates(sampling)) {
      const { logProbs, from, to } = step.wholeIn(slot.row, place);
      drawn = drawTruncated(logProbs.subarray(from, to), sampling, active.uniform);
    }
    this.#take(slot, drawn);
  }

  /** Every drawn token comes here: from a step, from several steps at once, and from what other episodes computed. */
  #take(slot: Slot, drawn: Drawn): void {
    const { active } = slot;
    if (active === undefined) return;
    const { stopTokens, maxTokens } = active.request;
    active.tokens.push(drawn.token);
    active.logProbs.push(drawn.logProb);
    this.#totals.sampledTokens += 1;
    if (stopTokens.includes(drawn.token)) return this.#end(slot, 'stop-token');
    if (active.tokens.length >= maxTokens) return this.#end(slot, 'max-tokens');
    if (slot.cached.length + 1 >= this.maxContextTokens) return this.#end(slot, 'context-full');
    slot.pending = [drawn.token];
    return undefined;
  }
}
