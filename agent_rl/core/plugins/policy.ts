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
  readonly signal: AbortSignal;
}

/** A turn as the policy read it from its tokens. */
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
  /** A transcript that holds the prompt and the generation cue. */
  begin(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript;
  /** Samples one turn onto the transcript. */
  act(transcript: Transcript, options: ActOptions): Promise<PolicyTurn>;
  /** Appends the messages of the environment and the tools, and the next generation cue. */
  observe(transcript: Transcript, messages: readonly (ToolMessage | UserMessage)[]): void;
  /** Forgets what was kept for an episode. */
  release(episode: string): void;
  /** What a user should know of how conversations become tokens here, in sentences; shown once at start. */
  readonly notes?: readonly string[];
}

export interface PolicySpec {
  readonly name: string;
  readonly description: string;
  readonly settings?: TSchema;
  /** Services that its class is given besides `model`, `generator` and `settings`, and that are opened for it. */
  readonly needs?: readonly Needed[];
  /**
   * Opens a generator of the policy's own, which takes the place of the engine's. Such a policy can be evaluated and
   * talked to, and not trained: nothing else could change its weights.
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
