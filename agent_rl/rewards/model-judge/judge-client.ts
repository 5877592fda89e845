import { Type, Value } from '../../core/typebox.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { PluginReport } from '../../core/plugins/tool.ts';
import type { RewardShared } from '../../core/plugins/reward.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { showValue } from '../../core/show-value.ts';
import { checkBudget, joinWebReports, openDispatcher, WebAccess } from '../../search/web/index.ts';
import { type WebClient, WebFailure } from '../../search/web/index.ts';
import { answerSchema, scoreOf } from './judge-answer.ts';
import { type JudgePrompt, partsOf } from './judge-prompt.ts';
import type { ModelJudgeSettings } from './settings.ts';

/** The server's answer to a request, as it is recorded. */
const Completion = Type.Object({
  content: Type.String(),
  finishReason: Type.String(),
  promptTokens: Type.Integer(),
  completionTokens: Type.Integer(),
});
type Completion = ReturnType<typeof completionOf>;

/** Counts of the session; tokens as reported by the server, 0 for answers from the cassette. */
interface JudgeReport extends PluginReport {
  judged: number;
  promptTokens: number;
  completionTokens: number;
  leftOutChars: number;
}

/** The judge of a run: calls the server, records its answers and counts its cost. */
export class JudgeClient implements RewardShared {
  readonly #access: WebAccess;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #counts: JudgeReport = {
    judged: 0,
    promptTokens: 0,
    completionTokens: 0,
    leftOutChars: 0,
  };

  /** @throws AgentRlError `CONFIG_INVALID`, `CASSETTE_INVALID`, `CASSETTE_MISS` */
  constructor(
    private readonly settings: ModelJudgeSettings,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    checkSettings(settings);
    const { apiKeyEnv, cassette, url } = settings;
    this.#url = new URL(`${url.replace(/\/+$/, '')}/chat/completions`);
    // A replay needs no key, so that others can reproduce a run.
    const key =
      cassette?.mode === 'replay' || apiKeyEnv === undefined
        ? undefined
        : secretOf(apiKeyEnv, {
            user: 'Reward model_judge',
            environment,
            remedy: 'Set it, or replay a cassette.',
          });
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    };
    this.#access = new WebAccess({
      settings,
      scope: 'model_judge',
      origin: this.#url.origin,
      secrets: key === undefined ? [] : [key],
      isAnswer: (value) => Value.Check(Completion, value),
      dispatcher: () => openDispatcher({ ...settings, environment }),
    });
  }

  /**
   * The score of a prompt, from 0 to 1.
   *
   * @param call who asks, the same in every repetition of the run
   * @throws WebFailure; Error for an answer that holds no score; AgentRlError as `WebAccess.answer` does
   */
  async judge({ messages, leftOutChars }: JudgePrompt, call: string): Promise<number> {
    const { signal } = new AbortController();
    const body = this.#body(messages);
    const request = { method: 'POST', url: this.#url.href, body };
    this.#counts.judged += 1;
    this.#counts.leftOutChars += leftOutChars;
    const { content, finishReason } = await this.#access.answer(
      { request, call },
      (client, until) => this.#ask(client, body, until),
      signal,
    );
    if (finishReason === 'stop') return scoreOf(content, this.settings);
    const why =
      finishReason === 'length' ? `: it has more than maxTokens = ${this.settings.maxTokens}` : '';
    throw new Error(
      `The judge's answer ended with finish_reason ${showValue(finishReason, 40)}${why}.`,
    );
  }

  report(): PluginReport {
    return { ...this.#access.report(), ...this.#counts };
  }

  joinReports(earlier: PluginReport, session: PluginReport): PluginReport {
    const own = Object.keys(this.#counts).map(
      (name) => [name, (earlier[name] ?? 0) + (session[name] ?? 0)] as const,
    );
    return { ...joinWebReports(earlier, session), ...Object.fromEntries(own) };
  }

  close(): Promise<void> {
    return this.#access.close();
  }

  #body(messages: JudgePrompt['messages']): Readonly<Record<string, unknown>> {
    const { model, temperature, maxTokens, reply, parameters } = this.settings;
    const schema = { name: 'judgement', strict: true, schema: answerSchema(this.settings) };
    return {
      ...parameters,
      model,
      messages,
      temperature,
      max_tokens: maxTokens,
      ...(reply === 'json_schema' && {
        response_format: { type: 'json_schema', json_schema: schema },
      }),
    };
  }

  async #ask(client: WebClient, body: object, signal: AbortSignal): Promise<Completion> {
    const sent = { url: this.#url, method: 'POST' as const, headers: this.#headers };
    const answer = await client.send({ ...sent, body: JSON.stringify(body) }, signal);
    const text = answer.body.toString('utf8');
    if (answer.status >= 300) throw refusal(this.#url, answer.status, text);
    const completion = completionOf(text, this.#url);
    this.#counts.promptTokens += completion.promptTokens;
    this.#counts.completionTokens += completion.completionTokens;
    return completion;
  }
}

/** Parameters that have their own settings, or that change the form of the answer. */
const ownParameters = [
  'model',
  'messages',
  'temperature',
  'max_tokens',
  'response_format',
  'stream',
  'n',
];

const invalid = (text: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `Reward model_judge: ${text}`);

/** @throws AgentRlError `CONFIG_INVALID` for settings that contradict each other */
function checkSettings(settings: ModelJudgeSettings): void {
  const { url, template, lowest, highest, parameters, budget } = settings;
  if (!URL.canParse(url)) throw invalid(`url ${JSON.stringify(url)} is not a URL.`);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    throw invalid('url must not contain a password. Set the key with apiKeyEnv.');
  const asked = partsOf(template);
  if (!asked.has('conversation') && !asked.has('answer'))
    throw invalid('template does not contain the episode. Use {conversation} or {answer}.');
  if (lowest >= highest)
    throw invalid(`lowest is ${lowest} and highest ${highest}. Set highest to a larger number.`);
  const own = ownParameters.find((name) => Object.hasOwn(parameters, name));
  if (own !== undefined) throw invalid(`parameters.${own} is set by the reward. Remove it.`);
  try {
    checkBudget(budget);
  } catch (cause) {
    throw invalid(messageOf(cause));
  }
}

/** @throws WebFailure `bad-response` for an invalid chat completion */
function completionOf(text: string, { host }: URL) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WebFailure('bad-response', `the answer of ${host} is not JSON`);
  }
  const { choices, usage } = isRecord(value) ? value : {};
  const [first] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const { message, finish_reason: finishReason } = isRecord(first) ? first : {};
  const { content } = isRecord(message) ? message : {};
  if (typeof content !== 'string' || typeof finishReason !== 'string')
    throw new WebFailure('bad-response', `the answer of ${host} is not a chat completion`);
  const { prompt_tokens: prompt, completion_tokens: completion } = isRecord(usage) ? usage : {};
  return {
    content,
    finishReason,
    promptTokens: count(prompt),
    completionTokens: count(completion),
  };
}

const count = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);

/** If every request would be refused, the run should end. */
function refusal({ host }: URL, status: number, said: string): Error {
  if (status < 400)
    return new WebFailure('redirect', `${host} answers with a redirect, which is not followed`);
  const text = `The judge at ${host} answers ${status}: ${showValue(said.trim(), 300)}`;
  return [401, 402, 403, 404, 405].includes(status)
    ? new AgentRlError('WEB_REQUEST_DENIED', `${text}. Check url, model and apiKeyEnv.`)
    : new WebFailure('client-error', text);
}
