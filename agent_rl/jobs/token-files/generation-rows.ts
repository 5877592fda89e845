import { AgentRlError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { messagesReader } from '../../../dataset/demonstrations/conversations.ts';
import type { Report, ReadRow } from './input-rows.ts';
import {
  fieldsOf,
  rowIdOf,
  tokenIdsOf,
  type Fields,
  type IdLimits,
  type RowId,
} from './row-ids.ts';
import { toolDefinitions } from '../../../dataset/demonstrations/tool-definitions.ts';

/** A conversation that the model is to continue. */
export interface Conversation {
  messages: readonly Message[];
  tools: readonly ToolSpec[];
}

/** What is to be continued: token ids, or a conversation, which becomes them. */
export interface GenerationRow {
  id?: RowId;
  ids: readonly number[];
  conversation?: Conversation;
}

export interface GenerationRowOptions {
  model: IdLimits;
  /** Of rows that bring none of their own. */
  tools: readonly ToolSpec[];
  /** The tokens of a conversation, generation cue included; what it throws is reported with the row. */
  encode: (conversation: Conversation) => readonly number[];
}

/** Reads `{"messages": [...], "tools"?: [...], "id"?: ...}` or `{"ids": [...], "id"?: ...}`. */
export function readGenerationRow(options: GenerationRowOptions): ReadRow<GenerationRow> {
  const readMessages = messagesReader();
  const conversationOf = (fields: Fields, report: Report): Conversation | undefined => {
    const messages = readMessages(fields['messages'], report);
    const own = fields['tools'];
    const tools = own === undefined ? options.tools : toolDefinitions(own, report);
    if (messages?.at(-1)?.role === 'assistant') {
      report('messages', 'ends with an assistant message; expected a user or tool message last.');
    }
    return messages && { messages, tools };
  };
  return (value, report) => {
    const fields = fieldsOf(value, ['messages', 'ids', 'tools', 'id'], report);
    if (fields === undefined) return undefined;
    const id = rowIdOf(fields, report);
    const given = fields['ids'] !== undefined;
    if (given === (fields['messages'] !== undefined)) {
      report('', 'needs either messages or ids.');
      return undefined;
    }
    if (given && fields['tools'] !== undefined) {
      report('tools', 'has no effect on ids, because ids are continued unchanged. Remove tools.');
    }
    const conversation = given ? undefined : conversationOf(fields, report);
    const ids = given
      ? tokenIdsOf(fields, options.model, report)
      : conversation && encoded(conversation, options, report);
    if (ids === undefined) return undefined;
    const { maxPositions } = options.model;
    if (ids.length >= maxPositions) {
      const which = given ? 'ids' : 'messages';
      report(
        which,
        `has ${ids.length} tokens, which leaves no room to generate: the model has ${maxPositions} positions in all. Shorten ${which}.`,
      );
    }
    return { ...id, ids: Array.from(ids), ...(conversation && { conversation }) };
  };
}

function encoded(
  conversation: Conversation,
  { encode }: GenerationRowOptions,
  report: Report,
): readonly number[] | undefined {
  try {
    return encode(conversation);
  } catch (problem) {
    if (!AgentRlError.is(problem)) throw problem;
    report('messages', problem.message);
    return undefined;
  }
}
