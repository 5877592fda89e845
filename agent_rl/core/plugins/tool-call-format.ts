import type { TSchema } from 'typebox';

import type { Class } from './given.ts';
import type { AssistantMessage, ToolCall } from '../message.ts';
import { PluginKind } from './plugin.ts';
import type { ToolSpec } from './tool.ts';

/** What was sampled in one turn. */
export interface SampledTurn {
  /** Control tokens included, the one that ended the turn excluded. */
  readonly text: string;
  /** Index of the turn in its episode, for the ids `call_<turn>_<index>` of its calls. */
  readonly turn: number;
  /** The generation cue has already opened a thought. */
  readonly inThought: boolean;
  /** What the model may call. */
  readonly tools: readonly ToolSpec[];
}

/** A call without its position in an episode. */
export type BareCall = Pick<ToolCall, 'name' | 'arguments' | 'written'>;

/** What a chat template does with a tool call, to infer its format. */
export interface TemplateSample {
  /** Text of the template. */
  readonly source: string;
  /** The sample call. */
  readonly call: BareCall;
  /** What it renders for a turn with only this call, without the end of turn; undefined if it cannot. */
  readonly turn: string | undefined;
}

/**
 * How a model writes tool calls in its text.
 *
 * It only parses and formats text; the chat template frames turns, tools and results.
 */
export interface ToolCallFormat {
  /** Splits a turn into content, thought and calls. Never throws: unreadable text is a malformed call. */
  read(turn: SampledTurn): AssistantMessage;
  /** A call as the model would write it, for demonstrations whose template writes no calls itself. */
  print(call: BareCall, tools: readonly ToolSpec[]): string;
  /** Whether a template is written for this format. `policy.toolCallFormat: auto` asks every known format. */
  fits(template: TemplateSample): boolean;
  /** The reason why a run with these tools cannot use the format, checked once at the start. */
  problemWith?(tools: readonly ToolSpec[]): string | undefined;
  /** Control tokens that end a turn besides the template's own, such as `<|eom_id|>`. */
  readonly endsOfTurn?: readonly string[];
  /**
   * Texts with which a call begins. Text before them is streamed while it is sampled; without any, the turn is sent
   * when it is complete.
   */
  readonly opensCall?: readonly string[];
}

export interface ToolCallFormatSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `policy.toolCallFormat` beside its `type`. */
  readonly settings?: TSchema;
}

export const toolCallFormats = new PluginKind<ToolCallFormatSpec, ToolCallFormat>(
  'tool-call format',
  { methods: ['read', 'print', 'fits'] },
);

/** Marks a class as a tool-call format. */
export const toolCallFormat = (spec: ToolCallFormatSpec) =>
  toolCallFormats.mark<Class<ToolCallFormat>>(spec);
