import { mostReward, number, text, within } from '../../config/blocks/block.ts';
import { TransientError } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import { type Message, system, user } from '../../core/message.ts';
import { environment } from '../../core/plugins/environment.ts';
import type { Environment, EpisodeEnd, Turn, Verdict } from '../../core/plugins/environment.ts';
import type { FoundTool, Tool, ToolContext, ToolHost } from '../../core/plugins/tool.ts';
import { unjudged, verdict } from '../../core/plugins/verdict.ts';
import { showValue } from '../../core/show-value.ts';
import type { Task } from '../../core/tasks/task.ts';
import { type Static, Type } from '../../core/typebox.ts';
import { toolName } from '../../core/wire/tool-name.ts';
import { HttpClient, NoAnswer } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';

/** The environment's block in YAML. */
export const NemoGymSettings = Type.Object(
  {
    url: text('Address of the resources server, http://… or https://…', { pattern: '^https?://' }),
    solvedAt: number(
      'An episode counts as solved if its reward is at least this',
      within(-mostReward, mostReward, 1),
    ),
  },
  { additionalProperties: false },
);
export type NemoGymSettings = Static<typeof NemoGymSettings>;

/** Routes that are not tools, and seconds that a request may take; a tool has more, so that its error is the one reported. */
const ownRoutes = new Set(['/seed_session', '/verify', '/close_session', '/aggregate_metrics']);
const deadlineS = 60;

const clientOf = (settings: unknown, { warn = () => undefined }: ToolHost): HttpClient => {
  const url = serverUrl((settings as NemoGymSettings).url, 'environment.url', 'the server');
  return new HttpClient({ url, connections: 64, pauseMs: 200, onRetry: warn });
};

/**
 * An episode at a resources server of NeMo Gym: seeded with the task's row, played by the server's tools, and judged by what the
 * policy said and called, in the form of the Responses API. A cookie is all that ties these together: without it the server
 * would judge another, new session.
 */
@environment({
  name: 'nemo_gym',
  description: 'A resources server of NeMo Gym.',
  settings: NemoGymSettings,
  taskFormat: 'episode',
  replays: 'never',
  elsewhere: true,
  taskProblem: ({ metadata }) =>
    promptIn(metadata['reset']) === undefined
      ? 'its responses_create_params.input is neither text nor a list of messages with text.'
      : undefined,
  find: async (settings, host) => {
    const http = clientOf(settings, host);
    return toolsOf(http).finally(() => http.close());
  },
  open: async (settings, host) => clientOf(settings, host),
})
export class NemoGymEnv implements Environment, Tool {
  #cookie: string | undefined;
  #lost: TransientError | undefined;
  readonly #output: object[] = [];

  constructor(
    private readonly given: { task: Task; settings: NemoGymSettings; shared: HttpClient },
  ) {}

  async start(signal: AbortSignal): Promise<readonly Message[]> {
    await this.#post('/seed_session', this.#row, signal);
    return promptIn(this.#row) ?? [];
  }

  async call(args: unknown, { of = '', signal }: ToolContext) {
    try {
      const { status, text: content } = await this.#post(`/${of}`, args as object, signal);
      return { content, isError: status !== 200 };
    } catch (thrown) {
      if (!(thrown instanceof TransientError)) throw thrown;
      // Calling again could change the session twice; the episode ends at its next step.
      this.#lost = thrown;
      return { content: `Error: ${thrown.message}`, isError: true };
    }
  }

  async step({ message, calls }: Turn) {
    if (this.#lost !== undefined) throw this.#lost;
    for (const { call, result } of calls) {
      const { id, name } = call;
      const written = JSON.stringify(call.arguments);
      this.#output.push(
        { type: 'function_call', id, call_id: id, name, arguments: written, status: 'completed' },
        { type: 'function_call_output', call_id: id, output: result.content },
      );
    }
    const content = [{ type: 'output_text', text: message.content, annotations: [] }];
    const said = { type: 'message', role: 'assistant', status: 'completed', content };
    if (message.content !== '')
      this.#output.push({ id: `message_${this.#output.length}`, ...said });
    return { done: calls.length === 0 && (message.malformedCalls ?? []).length === 0 };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    if (end === 'aborted' || this.#cookie === undefined) return unjudged('aborted', {});
    const form = { id: 'response', object: 'response', created_at: 0, model: 'policy' };
    const calling = { parallel_tool_calls: true, tool_choice: 'auto', tools: [] };
    const response = { ...form, ...calling, output: this.#output };
    const {
      status,
      text: said,
      json,
    } = await this.#post('/verify', { ...this.#row, response }, signal);
    const reward = isRecord(json) ? json['reward'] : undefined;
    if (status !== 200 || typeof reward !== 'number')
      throw new Error(`/verify answered ${status} ${showValue(said, 300)}; expected a reward.`);
    const { solvedAt } = this.given.settings;
    const components = { environment: reward };
    return verdict(end, { success: reward >= solvedAt, solvedAt, components });
  }

  get #row(): object {
    return this.given.task.metadata['reset'] as object;
  }

  /** @throws Error for a session without a cookie; TransientError where the server cannot be reached or fails */
  async #post(path: string, body: object, signal: AbortSignal) {
    const headers = this.#cookie === undefined ? {} : { cookie: this.#cookie };
    const asked = { method: 'POST', path, body, headers, deadlineS, again: false } as const;
    try {
      const answer = await this.given.shared.send(asked, signal);
      if (answer.status >= 500) throw new NoAnswer(`${path} failed with status ${answer.status}`);
      this.#cookie = answer.setCookie ?? this.#cookie;
      if (this.#cookie !== undefined) return answer;
    } catch (thrown) {
      if (thrown instanceof NoAnswer) throw new TransientError(thrown.message, { cause: thrown });
      throw thrown;
    }
    throw new Error(
      `${path} set no cookie, without which the server would judge a new session: its reward would mean nothing.`,
    );
  }
}

/** The prompt of a row; undefined where it has none. */
function promptIn(row: unknown): readonly Message[] | undefined {
  const { responses_create_params: asked } = isRecord(row) ? row : {};
  const input: unknown = isRecord(asked) ? asked['input'] : undefined;
  if (typeof input === 'string' && input !== '') return [user(input)];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const messages = input.map((one: unknown) => {
    const { role, content } = isRecord(one) ? one : {};
    if (typeof content !== 'string') return undefined;
    return role === 'system' || role === 'developer' ? system(content) : user(content);
  });
  return messages.every((one) => one !== undefined) ? messages : undefined;
}

type Schema = Readonly<Record<string, unknown>>;

interface Post {
  summary?: string;
  description?: string;
  requestBody?: { content?: Record<string, { schema?: Schema }> };
}

interface OpenApi {
  paths?: Record<string, { post?: Post }>;
  components?: { schemas?: Record<string, Schema> };
}

/** The tools that the server's OpenAPI document lists. @throws Error; NoAnswer */
async function toolsOf(http: HttpClient): Promise<readonly FoundTool[]> {
  const asked = { method: 'GET', path: '/openapi.json', deadlineS, again: true } as const;
  const { status, json } = await http.send(asked);
  const { paths = {}, components }: OpenApi = isRecord(json) ? json : {};
  if (!('/seed_session' in paths && '/verify' in paths))
    throw new Error(
      `/openapi.json answered with status ${status} and without /seed_session and /verify. Set url to the address of a resources server of NeMo Gym.`,
    );
  return Object.entries(paths).flatMap(([path, { post }]) => {
    if (post === undefined || ownRoutes.has(path)) return [];
    const of = path.slice(1);
    const schema = post.requestBody?.content?.['application/json']?.schema ?? {};
    const [, named = ''] = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'])) ?? [];
    const found = components?.schemas?.[named] ?? schema;
    // Its deeper references are into the same document.
    const whole = JSON.stringify(found).includes('"$ref"') ? { ...found, components } : found;
    return {
      of,
      name: toolName(of),
      description: post.description ?? post.summary ?? of,
      parameters: { type: 'object', ...whole },
      keepsState: true,
      deadlineS: deadlineS + 5,
      onInterrupt: 'fail' as const,
    };
  });
}
