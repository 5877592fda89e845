import { createHash } from 'node:crypto';

import type { AssistantMessage, Message } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { canonicalJson } from '../../core/services/canonical-json.ts';

/** A message of a request. */
export interface AskedMessage {
  readonly message: Message;
  /** The turn that it says it is, by the id of an item or by metadata. */
  readonly turn?: string | undefined;
  /** Ids of its calls as the client sent them: the ids in the message itself say only their place. */
  readonly ids?: readonly unknown[] | undefined;
}

/** A conversation that is to be answered. */
export interface AskedConversation {
  readonly messages: readonly AskedMessage[];
  readonly tools: readonly ToolSpec[];
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const tokensDigest = (tokens: readonly number[]): string =>
  createHash('sha256').update(Int32Array.from(tokens)).digest('hex');

/** What must be the same for a message to be the same to the model. */
export const messageDigest = ({ message }: AskedMessage): string =>
  sha256(canonicalJson({ ...message, name: undefined }));

const digests = new WeakMap<readonly ToolSpec[], string>();

/** Their order is part of it, since it is in the prompt. */
export function toolsDigest(tools: readonly ToolSpec[]): string {
  const parts = tools.map(({ name, description, parameters }) => [name, description, parameters]);
  const digest = digests.get(tools) ?? sha256(canonicalJson(parts));
  digests.set(tools, digest);
  return digest;
}

/** A turn's text as it is sent: a call that could not be read is part of what was said. */
export const saidIn = ({ content, malformedCalls = [] }: AssistantMessage): string =>
  [content, ...malformedCalls.map(({ text }) => text)].filter((text) => text !== '').join('\n');

/** A turn whose calls are named after its own name. */
export const withIds = (message: AssistantMessage, name: string | number): AssistantMessage => ({
  ...message,
  toolCalls: message.toolCalls?.map((call, index) => ({ ...call, id: `call_${name}_${index}` })),
});

/** The arguments of a call as they are sent. */
export const argumentsText = ({
  arguments: given,
  written,
}: NonNullable<AssistantMessage['toolCalls']>[number]): string => written ?? JSON.stringify(given);
