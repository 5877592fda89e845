/**
 * A model's chat template, rendered in pieces: what the template says and what others said are kept separate, so
 * that every token knows where it came from and no content can pose as a control token.
 *
 * Contents are never shown to the template. It is rendered with a placeholder for each, the result is cut at
 * the placeholders, and the contents take their places. White space around a placeholder shows whether the
 * template trims that content; the content is then trimmed alike. So what a role says cannot change what
 * surrounds it, whatever it is.
 */
import { AgentRlError, messageOf } from '../../agent_rl/core/errors.ts';
import type { AssistantMessage, Message, ToolCall } from '../../agent_rl/core/message.ts';
import { marked } from '../../agent_rl/core/python/python-json.ts';
import { Remembered } from '../../agent_rl/core/collections/remembered.ts';
import type { ToolSpec } from '../../agent_rl/core/plugins/tool.ts';
import type { TokenSource } from '../../agent_rl/core/transcript.ts';
import { JinjaTemplate } from '../jinja/jinja-template.ts';

/** Text of one source. Everything but `template` is to be encoded without control tokens. */
export interface PromptPiece {
  source: Extract<TokenSource, 'template' | 'system' | 'user' | 'tool'>;
  text: string;
}

export interface RenderOptions {
  /** Ends with the cue after which the assistant speaks. */
  addGenerationPrompt?: boolean;
  /** Whether the cue leaves room for thoughts; nothing is said about it when absent. */
  thinking?: boolean | undefined;
  /** What the conversation's tools are, where only what follows its beginning is needed. */
  tools?: readonly ToolDefinition[];
  /** Whose messages results of tools are shown as, for templates that know no role `tool`. Default `tool`. */
  resultsAs?: 'tool' | 'user';
  /** The day, YYYY-MM-DD, given to a template that asks for today's. Default `defaultTemplateDate`. */
  date?: string | undefined;
}

/** A model's templates by what they are for, as Hugging Face names them. */
export interface TemplateSources {
  default: string;
  /** For conversations with tools, where the model keeps another template for these. */
  tool_use?: string | undefined;
}

/** The day given to templates that ask for it: results must not depend on when they were made. */
export const defaultTemplateDate = '2024-07-26';

/** A tool as templates expect it. */
export interface ToolDefinition extends Pick<ToolSpec, 'name' | 'description' | 'parameters'> {
  /** The parameters as JSON, where JavaScript loses how a number of theirs was written: 1.0, or 20 digits. */
  readonly written?: string | undefined;
}

/** A conversation without the assistant's turns. */
export type SaidMessage = Exclude<Message, AssistantMessage>;

type Json = Readonly<Record<string, unknown>>;

export class ChatTemplate {
  readonly #template: JinjaTemplate;
  readonly #toolTemplate: JinjaTemplate;
  readonly #names: Readonly<Record<string, string>>;
  readonly #sources: TemplateSources;
  readonly #opening: readonly SaidMessage[] = [{ role: 'user', content: openingText }];
  /** Texts of conversations whose contents are placeholders, by tools: most have one of a few forms. */
  readonly #texts = new WeakMap<readonly ToolDefinition[], Remembered<string>>();

  /**
   * @param names Values the template may use: `bos_token`, `eos_token` …
   * @throws AgentRlError `TOKENIZER_INVALID` when the template cannot be parsed.
   */
  constructor(source: string | TemplateSources, names: Readonly<Record<string, string>> = {}) {
    this.#names = names;
    this.#sources = typeof source === 'string' ? { default: source } : source;
    const { default: usual, tool_use: withTools } = this.#sources;
    this.#template = parsed(usual);
    this.#toolTemplate = withTools === undefined ? this.#template : parsed(withTools);
  }

  /** The text of the template in use. */
  source({ tools = [] }: Pick<RenderOptions, 'tools'> = {}): string {
    return (tools.length > 0 ? this.#sources.tool_use : undefined) ?? this.#sources.default;
  }

  /** The template applied to messages already in its own form, as `transformers` does it. */
  renderRaw(
    messages: readonly Json[],
    tools: readonly Json[] | undefined,
    options: RenderOptions = {},
  ): string {
    const { addGenerationPrompt = false, thinking, date = defaultTemplateDate } = options;
    const template = tools === undefined ? this.#template : this.#toolTemplate;
    try {
      const values = {
        ...this.#names,
        messages,
        tools: tools ?? null,
        documents: null,
        add_generation_prompt: addGenerationPrompt,
        // Qwen3 asks for `enable_thinking`, MiniMind for `open_thinking`.
        ...(thinking !== undefined && { enable_thinking: thinking, open_thinking: thinking }),
      };
      return template.render(values, date);
    } catch (cause) {
      const why = messageOf(cause);
      throw invalid(`The chat template cannot render this conversation (${why}).`, cause);
    }
  }

  /** The whole text of a conversation. For reading: tokens are made from pieces. */
  renderChat(
    messages: readonly Message[],
    tools: readonly ToolDefinition[],
    options: RenderOptions = {},
  ): string {
    const shown = messages.map((message) => templateMessage(message, options));
    return this.renderRaw(shown, templateTools(tools), options);
  }

  /** A prompt in pieces, the generation cue included. */
  promptPieces(
    messages: readonly SaidMessage[],
    tools: readonly ToolDefinition[],
    options: RenderOptions,
  ): readonly PromptPiece[] {
    const held = messages.map(holdPlace);
    const text = this.#remembered(tools, [held, options], () =>
      this.#prompt(held, { ...options, tools }),
    );
    return piecesOf(text, messages);
  }

  /**
   * What follows a turn of the assistant, its end-of-turn token excluded: the fixed rest of the turn, what was
   * said since, and the next cue. It depends on nothing that came before.
   */
  deltaPieces(
    messages: readonly SaidMessage[],
    endOfTurn: string,
    options: RenderOptions,
  ): readonly PromptPiece[] {
    const text = this.#remembered(
      options.tools,
      [messages.map(holdPlace), options, endOfTurn],
      () => this.textAfterTurn(messages, { endOfTurn, options }),
    );
    return piecesOf(text, messages);
  }

  /**
   * The text that follows a turn after given earlier ones, placeholders standing for contents. With a template
   * that can be continued it is the same whatever came before.
   */
  textAfterTurn(messages: readonly SaidMessage[], after: AfterTurn): string {
    const { endOfTurn, options, earlier = this.#opening } = after;
    const conversation = [
      ...earlier,
      { role: 'assistant', content: turnMark } as const,
      ...messages.map(holdPlace),
    ];
    const text = this.#prompt(conversation, options);
    const said = text.lastIndexOf(turnMark) + turnMark.length;
    if (said < turnMark.length || !text.startsWith(endOfTurn, said)) {
      const expected = JSON.stringify(endOfTurn);
      throw invalid(`The chat template does not end an assistant's turn with ${expected}.`);
    }
    return text.slice(said + endOfTurn.length);
  }

  /** What a given turn would have been, had the model said it: the text after the cue, end-of-turn included. */
  turnText(message: AssistantMessage, endOfTurn: string, options: RenderOptions): string {
    const prompt = this.#prompt(this.#opening, options);
    const whole = this.renderChat([...this.#opening, message], options.tools ?? [], options);
    const end = whole.lastIndexOf(endOfTurn);
    if (!whole.startsWith(prompt) || end < prompt.length) {
      throw invalid(
        `The chat template renders an assistant's turn as ${JSON.stringify(whole.slice(0, 400))}, which does not begin with ` +
          `its generation prompt ${JSON.stringify(prompt)}. Remove the reasoning from the turn, or set thinking to true.`,
      );
    }
    return whole.slice(prompt.length, end + endOfTurn.length);
  }

  /** The cue after which the assistant speaks, with what comes before it. */
  cue(options: RenderOptions): string {
    const prompt = this.#prompt(this.#opening, options);
    return prompt.slice(prompt.lastIndexOf(openingText) + openingText.length);
  }

  /** Whether the cue has already opened a thought, which the model only closes. */
  cueOpensThought(options: RenderOptions): boolean {
    const cue = this.cue(options);
    return cue.lastIndexOf('<think>') > cue.lastIndexOf('</think>');
  }

  /** The text that follows what the assistant said, its end-of-turn first. */
  get turnTail(): string {
    const text = this.renderChat([...this.#opening, { role: 'assistant', content: turnMark }], []);
    return text.slice(text.lastIndexOf(turnMark) + turnMark.length);
  }

  /** The text that `render` gives for some tools and for what else it depends on. */
  #remembered(
    tools: readonly ToolDefinition[] = noTools,
    [messages, options, ...others]: [readonly Message[], RenderOptions, ...unknown[]],
    render: () => string,
  ): string {
    const texts = this.#texts.get(tools) ?? new Remembered<string>(textsRemembered);
    this.#texts.set(tools, texts);
    const key = JSON.stringify([messages, { ...options, tools: undefined }, ...others]);
    return texts.get(key, render);
  }

  #prompt(messages: readonly Message[], options: RenderOptions): string {
    const asked = { ...options, addGenerationPrompt: true };
    return this.renderChat(messages, options.tools ?? [], asked);
  }
}

const textsRemembered = 256;
const noTools: readonly ToolDefinition[] = [];

/** Where the turn is whose continuation is needed. */
export interface AfterTurn {
  endOfTurn: string;
  options: RenderOptions;
  /** What came before it; one message of the user by default. */
  earlier?: readonly Message[] | undefined;
}

function parsed(source: string): JinjaTemplate {
  try {
    return new JinjaTemplate(source);
  } catch (cause) {
    throw invalid(`The chat template cannot be parsed (${messageOf(cause)}).`, cause);
  }
}

// Private-use characters, which no template and no tool's description holds by accident.
const [openMark, closeMark] = ['\uE0F0', '\uE0F1'];
const turnMark = `${openMark}turn${closeMark}`;
const openingText = `${openMark}opening${closeMark}`;

// A line break outside, a space inside: `trim()` takes both, `strip('\n')` the line break only.
const [edgeBefore, edgeAfter] = ['\n ', ' \n'];

/**
 * The message with a placeholder for its content; an empty content stays, since templates ask for it. A tool's
 * name is what the policy called, so one that is not a name is not shown to the template either.
 */
function holdPlace(message: SaidMessage, index: number): SaidMessage {
  const content =
    message.content === '' ? '' : `${edgeBefore}${openMark}${index}${closeMark}${edgeAfter}`;
  if (message.role !== 'tool') return { ...message, content };
  const name = /^[\w.-]{1,64}$/.test(message.name) ? message.name : 'unknown';
  return { ...message, content, name };
}

function piecesOf(text: string, messages: readonly SaidMessage[]): readonly PromptPiece[] {
  const pieces: PromptPiece[] = [];
  let rest = text;
  for (const [index, message] of messages.entries()) {
    if (message.content === '') continue;
    const [before, after, extra] = rest.split(`${openMark}${index}${closeMark}`);
    if (before === undefined || after === undefined || extra !== undefined) {
      throw invalid(
        `The chat template does not show the content of message ${index + 1} (${message.role}) exactly once and in order.`,
      );
    }
    const { left, right, shown } = placed(before, after);
    pieces.push(
      { source: 'template', text: left },
      { source: message.role, text: shown(message.content) },
    );
    rest = right;
  }
  pieces.push({ source: 'template', text: rest });
  return pieces.filter((piece) => piece.text !== '');
}

/**
 * What the white space around a placeholder tells: the template's text on either side of a content, and the content
 * as the template shows it.
 */
function placed(before: string, after: string) {
  const [escapedBefore, escapedAfter] = [insideJson(edgeBefore), insideJson(edgeAfter)];
  if (before.endsWith(escapedBefore) && after.startsWith(escapedAfter)) {
    const left = before.slice(0, -escapedBefore.length);
    return { left, right: after.slice(escapedAfter.length), shown: insideJson };
  }
  const [left, trimStart] = keptBefore(before);
  const [right, trimEnd] = keptAfter(after);
  return { left, right, shown: (content: string) => trimEnd(trimStart(content)) };
}

type Trim = (content: string) => string;

function keptBefore(text: string): [string, Trim] {
  if (text.endsWith(edgeBefore)) return [text.slice(0, -edgeBefore.length), (content) => content];
  if (text.endsWith(' ')) return [text.slice(0, -1), (content) => content.replace(/^\n+/, '')];
  return [text, (content) => content.trimStart()];
}

function keptAfter(text: string): [string, Trim] {
  if (text.startsWith(edgeAfter)) return [text.slice(edgeAfter.length), (content) => content];
  if (text.startsWith(' ')) return [text.slice(1), (content) => content.replace(/\n+$/, '')];
  return [text, (content) => content.trimEnd()];
}

/** The text as it stands between the quotes of a JSON string, which some templates show tool results as. */
const insideJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function templateMessage(message: Message, { resultsAs = 'tool' }: RenderOptions): Json {
  if (message.role === 'tool') {
    const { content, name, callId } = message;
    if (resultsAs === 'user') return { role: 'user', content };
    return { role: 'tool', content, name, tool_call_id: callId };
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const broken = (message.malformedCalls ?? []).map((call) => call.text);
  return {
    // A second name for reasoning, which transformers gives it for gpt-oss.
    ...(message.reasoning !== undefined && { thinking: message.reasoning }),
    role: 'assistant',
    content: [message.content, ...broken].filter(Boolean).join('\n'),
    ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
    ...(message.toolCalls !== undefined && { tool_calls: message.toolCalls.map(templateCall) }),
  };
}

const templateCall = ({ id, name, arguments: value, written }: ToolCall): Json => ({
  id,
  type: 'function',
  function: { name, arguments: marked(value, written) },
});

function templateTools(tools: readonly ToolDefinition[]): readonly Json[] | undefined {
  if (tools.length === 0) return undefined;
  return tools.map(({ name, description, parameters, written }) => ({
    type: 'function',
    // Schemas may carry symbols and methods of the library that built them; a template sees only JSON.
    function: { name, description, parameters: marked(parameters, written) },
  }));
}

const invalid = (message: string, cause?: unknown): AgentRlError =>
  new AgentRlError('TOKENIZER_INVALID', message, { cause });
