import { isRecord } from '../../../core/is-record.ts';
import type { RemoteServer } from '../remote-server.ts';
import { helloS, unsuited } from '../remote-settings.ts';

export interface ServedModel {
  id: string;
  /** Longest context plus generation, in tokens; absent where the server does not say. */
  maxContextTokens?: number | undefined;
  /** Number of its tokens; absent where the server does not say. */
  vocabSize?: number | undefined;
}

/** The model of a server that a run means. @throws AgentRlError `CONFIG_INVALID` that lists those it has */
export async function servedModel(
  server: RemoteServer,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<ServedModel> {
  const request = { method: 'GET', path: '/v1/models', deadlineS: helloS } as const;
  const answer = await server.ask(request, signal);
  const data = isRecord(answer) ? answer['data'] : undefined;
  const models = Array.isArray(data) ? data.filter(isRecord) : [];
  // Adapters name the model that they are over.
  const own = models.filter(({ parent }) => parent === undefined || parent === null);
  const found =
    wanted === undefined
      ? own.length === 1
        ? own[0]
        : undefined
      : models.find(({ id }) => id === wanted);
  if (found === undefined) {
    const names = models.map(({ id }) => JSON.stringify(id)).join(', ') || 'none';
    throw unsuited(
      server.url,
      wanted === undefined
        ? `serves the models ${names}. Name the run's in generator.model.`
        : `serves no model ${JSON.stringify(wanted)} (generator.model); it has ${names}. Name one of them, or start it with --served-model-name ${wanted}.`,
    );
  }
  // llama.cpp's server says such things in `meta`.
  const meta = isRecord(found['meta']) ? found['meta'] : {};
  const length = found['max_model_len'] ?? meta['n_ctx'];
  const vocabSize = meta['n_vocab'];
  return {
    id: String(found['id']),
    maxContextTokens: typeof length === 'number' ? length : undefined,
    vocabSize: typeof vocabSize === 'number' ? vocabSize : undefined,
  };
}
