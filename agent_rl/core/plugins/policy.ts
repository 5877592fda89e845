import type { TSchema } from 'typebox';

import type { Generator, RandomKey, Sampling } from '../services/generator.ts';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../message.ts';
import { type Class, type Needed, needsRule } from './given.ts';
import type { GeneratorHost } from './model/generator.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, optionalField } from './plugin-rules.ts';
import type { ToolSpec } from './tool.ts';
import type { Transcript } from '../transcript.ts';

/** How one turn is sampled. */
export interface ActOptions {
  readonly episode: string;
  readonly sampling: Sampling;
  /** Most tokens to sample in this turn. */
  readonly maxTokens: number;
  readonly key: RandomKey;
  /** The weights to sample from. A policy passes it to its generator, which may hold several versions. */
  readonly version?: number | undefined;
  readonly signal: AbortSignal;
}

/** A turn as the policy parsed it from its tokens. */
export interface PolicyTurn {
  readonly message: AssistantMessage;
  readonly sampledTokens: number;
  readonly stop: 'end-of-turn' | 'max-tokens' | 'context-full' | 'aborted';
}

/**
 * The token side of an agent: renders a conversation to tokens, samples a turn, reads it back.
 * Only a policy knows the template, the tokenizer and the tool-call format.
 */
export interface Policy {
  /** A transcript of the prompt and the generation cue. */
  begin(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript;
  /** Samples one turn onto the transcript. */
  act(transcript: Transcript, options: ActOptions): Promise<PolicyTurn>;
  /** Appends the messages of the environment and the tools, and the next generation cue. */
  observe(transcript: Transcript, messages: readonly (ToolMessage | UserMessage)[]): void;
  /** Frees what was cached for an episode. */
  release(episode: string): void;
  /** Notes for the user on how conversations become tokens, as sentences; shown once at the start. */
  readonly notes?: readonly string[];
}

export interface PolicySpec {
  readonly name: string;
  readonly description: string;
  readonly settings?: TSchema;
  /** Services that are opened for its class, besides `model`, `generator` and `settings`. */
  readonly needs?: readonly Needed[];
  /**
   * Opens the policy's own generator, which replaces the engine's. Such a policy works in evaluations and chats but
   * cannot be trained, because no learner can update its weights.
   */
  readonly openGenerator?: (
    settings: Readonly<Record<string, unknown>>,
    host: GeneratorHost,
  ) => Promise<Generator>;
}

export const policies = new PluginKind<PolicySpec, Policy>('policy', {
  methods: ['begin', 'act', 'observe', 'release'],
  fields: {
    needs: needsRule('sandbox', 'format'),
    openGenerator: optionalField(fieldRules.method),
  },
});

/** Marks a class as a policy plugin. */
export const policy = (spec: PolicySpec) => policies.mark<Class<Policy>>(spec);
