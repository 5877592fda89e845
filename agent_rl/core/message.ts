/** A call of a tool that was well formed: a name and an object of arguments. */
export interface ToolCall {
  /** Unique within the episode, `call_<turn>_<index>`. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The arguments as JSON, where JavaScript loses how a number of theirs was written: 1.0, or 20 digits. */
  readonly written?: string | undefined;
}

/** Text that was meant as a tool call and could not be read as one. */
export interface MalformedCall {
  readonly id: string;
  readonly text: string;
  /** The problem, in words that the model can act on. */
  readonly problem: string;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

/** A message for the policy. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

/** What the policy said. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The text outside of thoughts and calls. */
  readonly content: string;
  readonly reasoning?: string | undefined;
  /** In the order written. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly malformedCalls?: readonly MalformedCall[];
}

/** What a tool answered. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: string;
  readonly name: string;
  readonly callId: string;
}

/** One entry of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A message of the system. */
export const system = (content: string): SystemMessage => ({ role: 'system', content });
/** A message of the user. */
export const user = (content: string): UserMessage => ({ role: 'user', content });
