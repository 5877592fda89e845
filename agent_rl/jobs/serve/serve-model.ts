import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { basename } from 'node:path';

import { collecting, openEngine } from '../../compose/model/open-engine.ts';
import { servedModel } from '../../compose/open-run-gateway.ts';
import { resolveRun } from '../../compose/resolve-run.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { AgentRlError } from '../../core/errors.ts';
import { EventAnswer, type Page, page } from '../../http/answer-request.ts';
import { decodedPart, Refusal } from '../../http/refusal.ts';
import { servePages } from '../../http/serve-pages.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { chatCompletion } from '../../gateway/dialects/chat-completions.ts';
import { response } from '../../gateway/dialects/responses.ts';
import { answeredBy, type Dialect } from '../../gateway/doors/answer-call.ts';
import { beatMs, keepAliveMs } from '../../gateway/open-gateway.ts';
import { Session } from '../../gateway/turns/session.ts';
import type { SessionRules } from '../../gateway/turns/session-rules.ts';
import { completion } from './completions.ts';
import { keyOfServer, type ServerAddress } from './server-key.ts';
import { LongTexts } from '../../gateway/sampling/long-texts.ts';
import { openAiError } from '../../gateway/dialects/openai-answers.ts';
import { Places } from '../../gateway/sampling/places.ts';
import type { ServedModel } from '../../gateway/sampling/served-model.ts';
import { trainingPages } from './training/training-pages.ts';
import { WeightInbox } from './training/weight-inbox.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import { protocolVersion } from '../../generation/served/protocol.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { textFingerprint } from '../../../model/text/text-fingerprint.ts';

export interface ServeModelOptions extends JobOptions, ServerAddress {
  /** Run folder, checkpoint or model folder; the model of the config otherwise. */
  checkpoint?: string;
  /** Name of the policy to serve instead of the one at the top level. */
  policy?: string | undefined;
  /** What clients call the model; the name of its folder by default. */
  name?: string;
  /** Answers sampled at once; more wait. */
  answers: number;
  /** Requests under way and waiting; those beyond are asked to come back later. */
  requests: number;
  /** Whether a training may replace its weights. */
  acceptWeights: boolean;
  /** Seconds that an answer may take, waiting included. */
  timeoutS: number;
  /** What to do with a request for what the model cannot do, such as `response_format`, and for one by another name. */
  unsupported: 'ignore' | 'refuse';
  /** Told where the server listens, once it does. */
  onListening?: (url: string) => void;
}

/**
 * Serves a model to clients of the OpenAI API until the signal is aborted.
 *
 * @returns the address, and how many requests were answered with which status
 * @throws AgentRlError for what the user can fix
 */
export async function serveModel(options: ServeModelOptions): Promise<JobResult> {
  const { host, apiKeyEnv, print, signal } = options;
  const token = keyOfServer(options, 'A model');
  const opened = new Cleanup();
  try {
    const { model, folder, notes, training } = await openModel(options, opened);
    const name = options.name ?? basename(folder);
    for (const note of notes) print(`Note: ${note}`);
    const { pages, close } = trainingPages(training);
    opened.defer(close);
    const { places } = training;
    const session = new Session(model, sessionRules(model));
    const all = [...modelPages(session, { ...options, name, places }), ...pages];
    const server = await servePages({
      host,
      port: options.port,
      code: 'CONFIG_INVALID',
      what: 'The model',
      pages: all,
      token,
      mostRequests: options.requests,
      bodyBounds: model.bodyBounds,
      keepAliveMs,
      beatMs,
      requestTimeoutMs: requestTimeoutMs(options.acceptWeights),
      errorBody: openAiError,
      onFailure: (message) => print(`A request failed: ${message}`),
    });
    opened.defer(() => server.close());
    const key = token === undefined ? '' : ` Clients must send the key stored in ${apiKeyEnv}.`;
    print(`Model ${name} (${folder}) at ${server.url}/v1. Stop with Ctrl-C.${key}`);
    options.onListening?.(server.url);
    if (!signal.aborted) await once(signal, 'abort');
    return { url: server.url, model: folder, answers: server.counts };
  } finally {
    await opened.close();
  }
}

async function openModel(options: ServeModelOptions, opened: Cleanup) {
  const { answers, acceptWeights, requests, timeoutS, signal } = options;
  const asked = { ...options, trains: false, demonstrates: true, callsTools: false };
  const run = await resolveRun(options, asked);
  const { config, model, chosen } = run;
  if (chosen.policy.entry.spec.openGenerator !== undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `policy.type: "${chosen.policy.entry.spec.name}" has its own generator, whose tokens cannot be served. Use minimind or huggingface.`,
    );
  const generating = chosen.generator.entry.spec.name;
  if (generating !== 'engine')
    throw new AgentRlError(
      'CONFIG_INVALID',
      `generator.type: "${generating}" has no effect here, because the server generates the tokens itself. Remove the setting, or use --set generator.type=engine.`,
    );
  const engine = opened.add(
    await openEngine(config, model, {
      ...collecting(config, model, answers),
      packs: !acceptWeights,
      signal,
    }),
  );
  const { maxContextTokens, name } = await engine.generator.describe();
  const { packs } = await engine.info();
  const longTexts = opened.add(new LongTexts(model.text, model.textFolder, timeoutS));
  const places = new Places(answers, (episode) => engine.generator.release(episode));
  const parts = { places, maxContextTokens, longTexts };
  const { served, notes } = servedModel(run, engine.generator, parts);
  const training = {
    info: {
      protocol: protocolVersion,
      name,
      maxContextTokens,
      vocabSize: served.vocabSize,
      text: await textFingerprint(model.textFolder),
      requests,
      acceptsWeights: acceptWeights,
      packs,
    },
    sampler: engine.generator,
    places,
    idleS: timeoutS,
    replacing: acceptWeights
      ? {
          inbox: opened.add(await WeightInbox.open(mostWeightBytes(model.description))),
          use: (weights: WeightRef) => engine.generator.use(weights),
        }
      : undefined,
  };
  return { model: served, folder: model.folder, notes, training };
}

/** Clients send their own sampling, and whole conversations: what they send back of its turns is what it sampled. */
const sessionRules = (model: ServedModel): SessionRules => ({
  secret: randomUUID(),
  sampling: undefined,
  maxTurnTokens: Infinity,
  maxTurns: Infinity,
  history: 'sampled',
  keyOf: ({ seed }, index) => ({ seed, taskId: 'served', sample: index, turn: 0 }),
  live: true,
  mostTokens: contextsRemembered * model.maxContextTokens,
  attempt: (work) => work(),
  redact: (text) => text,
});

/** Worth as much memory as some hundred conversations that fill their context. */
const contextsRemembered = 256;

/** What a file of all its weights may have: float32, and a header. */
const mostWeightBytes = (config: ModelConfig): number =>
  4 * countParameters(config).parameters + 64 * 2 ** 20;

function modelPages(
  session: Session,
  {
    name,
    places,
    timeoutS,
    unsupported,
  }: Pick<ServeModelOptions, 'timeoutS' | 'unsupported'> & { name: string; places: Places },
): readonly Page[] {
  const created = Math.floor(Date.now() / 1000);
  const entry = {
    id: name,
    object: 'model',
    created,
    owned_by: 'agent_rl',
    max_model_len: session.model.maxContextTokens,
  };
  const answering =
    (dialect: Dialect): Page['answer'] =>
    async ({ body, headers, signal }) => {
      if (unsupported === 'refuse') refuseOtherModel(body, name);
      const late = AbortSignal.timeout(timeoutS * 1000);
      const within = AbortSignal.any([signal, late]);
      const why = (thrown: unknown): unknown =>
        late.aborted && !signal.aborted ? tookLonger(timeoutS) : thrown;
      try {
        const answered = await answeredBy(
          dialect,
          { body, header: (field) => headers[field]?.toString(), signal: within },
          { session, unsupported, model: name },
        );
        return answered instanceof EventAnswer
          ? new EventAnswer(failingAs(answered.events, why))
          : answered;
      } catch (thrown) {
        throw why(thrown);
      }
    };
  return [
    page('GET', /^\/v1\/models$/, async () => ({ object: 'list', data: [entry] })),
    page('GET', /^\/v1\/models\/(?<id>.+)$/, async ({ groups }) => {
      refuseOtherModel({ model: decodedPart(groups['id'] ?? '') }, name);
      return entry;
    }),
    page('GET', /^\/health$/, async () => ({ status: 'ok', places: places.counts })),
    page('POST', /^\/v1\/chat\/completions$/, answering(chatCompletion)),
    page('POST', /^\/v1\/completions$/, answering(completion)),
    page('POST', /^\/v1\/responses$/, answering(response)),
  ];
}

const tookLonger = (timeoutS: number): Refusal =>
  new Refusal(
    408,
    `The answer took longer than ${timeoutS} s. Ask for fewer tokens, or start the server with a longer --timeout.`,
    [],
    'timeout',
  );

async function* failingAs(events: AsyncIterable<string>, why: (thrown: unknown) => unknown) {
  try {
    yield* events;
  } catch (thrown) {
    throw why(thrown);
  }
}

function refuseOtherModel(body: unknown, name: string): void {
  const asked = (body as { model?: unknown } | null)?.model;
  if (asked === undefined || asked === null || asked === name) return;
  throw new Refusal(
    404,
    `There is no model ${JSON.stringify(asked)?.slice(0, 80)}; this server serves ${JSON.stringify(name)}.`,
    [{ path: ['model'], message: 'not here' }],
    'model_not_found',
  );
}

/** Files of weights may take longer to arrive than a request. */
const requestTimeoutMs = (acceptWeights: boolean): number => (acceptWeights ? 3_600_000 : 60_000);
