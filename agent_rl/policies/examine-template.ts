/**
 * What a chat template does with an episode, found out on sample conversations before the first real one.
 *
 * A transcript only grows: text after a turn is appended, and earlier text is not rendered again. This is only right if
 * the template's text after a turn does not depend on earlier messages. A template may still render earlier turns
 * differently as the conversation grows. This has no effect here, but it has in a server that renders whole
 * conversations for the trained model.
 */
import { AgentRlError, messageOf } from '../core/errors.ts';
import { type AssistantMessage, type Message, system, user } from '../core/message.ts';
import type { BareCall, TemplateSample, ToolCallFormat } from '../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../core/plugins/tool.ts';
import type { RenderOptions, SaidMessage } from '../../model/text/chat-template.ts';
import type { LanguageModel } from '../../model/text/language-model.ts';
import { isOnly } from './tool-call-formats/read-turn.ts';

/** How a model's template is used by a policy. */
export interface TemplateUse {
  /** The role that shows tool results. */
  resultsAs: 'tool' | 'user';
  /** Whether the template writes calls in given turns in the run's format. */
  writesCalls: boolean;
  /** Notes for the user, as sentences. */
  notes: readonly string[];
}

const sampleTool: ToolSpec = {
  name: 'sample_tool',
  description: 'Runs a program.',
  parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
};
const sampleCall: BareCall = { name: sampleTool.name, arguments: { code: 'print(1)' } };
const callTurn: AssistantMessage = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call_0_0', ...sampleCall }],
};
const result = (content: string, index = 0): SaidMessage => ({
  role: 'tool',
  content,
  name: sampleTool.name,
  callId: `call_0_${index}`,
});

/** What a template writes for one call of a tool, for the formats to say whether it is theirs. */
export function templateSample(model: LanguageModel, render: RenderOptions): TemplateSample {
  const options = { ...render, tools: [sampleTool] };
  const shared = { source: model.template.source(options), call: sampleCall };
  try {
    const { endOfTurn, template } = model;
    const text = template.turnText(callTurn, endOfTurn, options).slice(0, -endOfTurn.length);
    return { ...shared, turn: template.cueOpensThought(options) ? `<think>${text}` : text };
  } catch (thrown) {
    if (!AgentRlError.is(thrown)) throw thrown;
    return { ...shared, turn: undefined };
  }
}

/**
 * Renders sample conversations whole and in pieces.
 *
 * @throws AgentRlError `TOKENIZER_INVALID` for a template that no text can be appended to, with the reason.
 */
export function examineTemplate(
  model: LanguageModel,
  format: ToolCallFormat,
  render: RenderOptions,
): TemplateUse {
  return new Examination(model, format, render).use();
}

type Said = readonly SaidMessage[];

class Examination {
  readonly #notes: string[] = [];
  readonly #opening: Said;
  /** The tool of the sample conversations. */
  readonly #tools: readonly ToolSpec[];
  #render: RenderOptions;

  constructor(
    private readonly model: LanguageModel,
    private readonly format: ToolCallFormat,
    render: RenderOptions,
  ) {
    this.#render = render;
    this.#tools = this.#takesTools() ? [sampleTool] : [];
    this.#render = { ...render, tools: this.#tools };
    this.#render = { ...this.#render, resultsAs: this.#resultsAs() };
    this.#opening = this.#takesSystem() ? [system('Be brief.'), user('What is 2 + 2?')] : [asking];
  }

  use(): TemplateUse {
    const { resultsAs = 'tool' } = this.#render;
    this.#noteHiddenTools();
    this.#noteDate();
    this.#refuseDependentDeltas();
    const writesCalls = this.#writesCalls();
    for (const sample of this.#conversations(writesCalls)) {
      const note = this.#rewritten(sample);
      // The first difference explains the others.
      if (note !== undefined) return { resultsAs, writesCalls, notes: [...this.#notes, note] };
    }
    return { resultsAs, writesCalls, notes: this.#notes };
  }

  #takesTools(): boolean {
    const ask = (tools: readonly ToolSpec[]): unknown =>
      this.model.template.promptPieces([asking], tools, this.#render);
    ask([]);
    return this.#accepts('tools', 'a run with tools cannot use this template', () =>
      ask([sampleTool]),
    );
  }

  #resultsAs(): 'tool' | 'user' {
    const shown = 'they become user messages';
    if (this.#accepts('tool results', shown, () => this.#delta([result('4')]))) return 'tool';
    const asUser = { ...this.#render, resultsAs: 'user' as const };
    const { endOfTurn, template } = this.model;
    template.deltaPieces([result('4')], endOfTurn, asUser);
    return 'user';
  }

  #takesSystem(): boolean {
    const { template } = this.model;
    const ask = (opening: Said): unknown => template.promptPieces(opening, [], this.#render);
    const without = 'an environment with a system message cannot use this template';
    if (this.#accepts('a system message', without, () => ask([system('Be brief.'), asking])))
      return true;
    ask([asking]);
    return false;
  }

  /** Whether something can be rendered. If not, a note describes the consequence. */
  #accepts(what: string, consequence: string, attempt: () => unknown): boolean {
    const refusal = this.#failure(attempt);
    if (refusal === undefined) return true;
    this.#notes.push(`This chat template does not accept ${what} (${refusal}): ${consequence}.`);
    return false;
  }

  #noteHiddenTools(): void {
    if (this.#tools.length === 0) return;
    const text = this.model.template.renderChat(this.#opening, this.#tools, this.#render);
    if (text.includes(sampleTool.name)) return;
    this.#notes.push(
      'This chat template does not show tools to the model. Describe them and how to call them in environment.systemPrompt.',
    );
  }

  #noteDate(): void {
    const { template } = this.model;
    const on = (date: string): string =>
      template.renderChat(this.#opening, this.#tools, { ...this.#render, date });
    if (on('2000-01-01') === on('2001-02-03')) return;
    const { date } = this.#render;
    this.#notes.push(
      `This chat template shows today's date. In this run it always shows ${date ?? 'its default date'} (policy.templateDate) instead, so that results do not depend on the day.`,
    );
  }

  /** @throws AgentRlError when what follows a turn depends on what came before it */
  #refuseDependentDeltas(): void {
    const answer: AssistantMessage = { role: 'assistant', content: 'It is 4.' };
    const again = user('And 3 + 3?');
    const contexts: Readonly<Record<string, readonly Message[]>> = {
      'in the first turn': [],
      'in the second turn': [answer, again],
      'after a result': [answer, result('4')],
      'in the third turn': [answer, again, answer, again],
    };
    for (const said of [again, result('4')]) {
      const expected = this.#delta([said]);
      for (const [what, earlier] of Object.entries(contexts)) {
        const found = this.#delta([said], [...this.#opening, ...earlier]);
        if (found !== expected) throw dependent(said, { what, found, expected });
      }
    }
    for (const second of [result('5', 1), again]) {
      const failure = this.#failure(() => this.#delta([result('4'), second]));
      if (failure === undefined) continue;
      this.#notes.push(
        `This chat template fails when a model turn is followed by a tool message and then by a ${second.role} message (${failure}). Episodes with these messages fail.`,
      );
    }
  }

  /** What follows a turn, as text; also checks that every content occurs in it once and in order. */
  #delta(said: Said, earlier?: readonly Message[]): string {
    const { endOfTurn, template } = this.model;
    const options = this.#render;
    template.deltaPieces(said, endOfTurn, options);
    return template.textAfterTurn(said, { endOfTurn, options, earlier });
  }

  #writesCalls(): boolean {
    const { call, turn: text } = templateSample(this.model, this.#render);
    if (text === undefined) return false;
    const read = this.format.read({ text, turn: 0, inThought: false, tools: [sampleTool] });
    return isOnly(read, call);
  }

  /** Turns and what is said after each, as they come up in episodes. */
  #conversations(writesCalls: boolean): readonly Sample[] {
    const reasoning = this.#render.thinking === true ? { reasoning: 'That is easy.' } : {};
    const answer: AssistantMessage = { role: 'assistant', content: 'It is 4.', ...reasoning };
    const said: AssistantMessage = { role: 'assistant', content: 'I will see.', ...reasoning };
    const turn = writesCalls ? { ...callTurn, ...reasoning } : said;
    const called = { turn, said: [result('4')] };
    const asked = { turn: answer, said: [user('And 3 + 3?')] };
    return [
      { after: "a tool's result", turns: [called] },
      { after: "a second tool's result", turns: [called, called] },
      { after: 'another message of the user', turns: [asked] },
      { after: 'another message of the user', turns: [called, asked] },
    ];
  }

  /** What the template writes otherwise when it renders the whole conversation, in words. */
  #rewritten({ after, turns }: Sample): string | undefined {
    const { endOfTurn, template } = this.model;
    const options = this.#render;
    const given = this.#failure(() => {
      for (const { turn } of turns) template.turnText(turn, endOfTurn, options);
    });
    if (given !== undefined) {
      return `This chat template cannot be used for data with assistant turns, such as data for agent-rl sft, because it formats these turns differently from turns that the model generates. (${given}) Training on turns that the model generates is not affected.`;
    }
    const prompt = textOf(template.promptPieces(this.#opening, this.#tools, options));
    const ours = turns.reduce((text, { turn, said }) => {
      const written = template.turnText(turn, endOfTurn, options);
      return text + written + textOf(template.deltaPieces(said, endOfTurn, options));
    }, prompt);
    const conversation = [...this.#opening, ...turns.flatMap(({ turn, said }) => [turn, ...said])];
    const asked = { ...options, addGenerationPrompt: true };
    const whole = template.renderChat(conversation, this.#tools, asked);
    if (ours === whole) return undefined;
    const { left, right, at } = difference(ours, whole);
    const turnsFrom = prompt.length - template.cue(options).length;
    const where = at < turnsFrom ? 'the prompt' : 'an earlier turn of the model';
    return (
      `After ${after}, this chat template renders ${where} differently from the tokens of the episode: ${excerpt(left)} becomes ${excerpt(right)}. ` +
      'Training keeps the exact sampled tokens. A server that renders the whole conversation again before each turn gives the trained model different tokens. Configure it to append to the earlier tokens, or expect slightly worse results.'
    );
  }

  /** The reason why something cannot be rendered, if it cannot. */
  #failure(attempt: () => unknown): string | undefined {
    try {
      attempt();
      return undefined;
    } catch (thrown) {
      if (!AgentRlError.is(thrown)) throw thrown;
      return messageOf(thrown);
    }
  }
}

interface Sample {
  /** What comes last. */
  after: string;
  turns: readonly { turn: AssistantMessage; said: Said }[];
}

const asking = user('What is 2 + 2?');

const textOf = (pieces: readonly { text: string }[]): string =>
  pieces.map(({ text }) => text).join('');

const excerpt = (text: string): string =>
  text === '' ? 'nothing' : JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);

/** What two texts hold between the beginning and the end that they share. */
function difference(left: string, right: string) {
  const shorter = Math.min(left.length, right.length);
  let at = 0;
  while (at < shorter && left[at] === right[at]) at++;
  let end = 0;
  while (end < shorter - at && left.at(-1 - end) === right.at(-1 - end)) end++;
  const longer = left.length > right.length ? left : right;
  const moved = at + end === shorter ? stepsToMark(longer, at, end) : 0;
  const differing = (text: string): string => text.slice(at - moved, text.length - end - moved);
  return { at: at - moved, left: differing(left), right: differing(right) };
}

/**
 * What stands between `at` and `end` from the end was put in. It can be read to begin earlier, as long as what comes
 * before it is also its own end: "a<t>b" may have got "t>b<" or "<t>b". The steps back to where it begins with a mark.
 */
function stepsToMark(text: string, at: number, end: number): number {
  for (let steps = 0; steps <= at; steps++) {
    if (text[at - steps] === '<') return steps;
    if (text[at - steps - 1] !== text.at(-1 - end - steps)) return 0;
  }
  return 0;
}

function dependent(
  { role }: SaidMessage,
  { what, found, expected }: Readonly<Record<'what' | 'found' | 'expected', string>>,
): AgentRlError {
  const { left, right } = difference(expected, found);
  const whose = role === 'tool' ? "a tool's result" : 'the user';
  return new AgentRlError(
    'TOKENIZER_INVALID',
    `After a model turn, this chat template writes a message of ${whose} in different ways, depending on the earlier messages: ` +
      `after a single question as ${excerpt(left)}, but ${what} as ${excerpt(right)}. An episode only appends text and never rewrites it, so neither text would always be correct. ` +
      'Use a template that writes a message the same way after any earlier messages: it must not number messages or list the tools in the last message.',
  );
}
