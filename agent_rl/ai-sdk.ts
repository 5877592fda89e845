/** The model that is trained, as a language model of the AI SDK (6 and 7). Importing this needs nothing of the AI SDK, and starts nothing. */
import { rollouts } from './core/services/rollout-scope.ts';
import {
  chatBody,
  generated,
  type Generated,
  type ModelCall,
  streamOf,
  type StreamPart,
} from './gateway/ai-sdk/convert.ts';

export type { ModelCall };

/** A language model by version 3 of the AI SDK's specification. */
export interface RolloutModel {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(call: ModelCall): Promise<Generated>;
  doStream(call: ModelCall): Promise<{ stream: ReadableStream<StreamPart> }>;
}

/** Any model of the AI SDK. */
interface OtherModel {
  doGenerate(call: never): PromiseLike<unknown>;
  doStream(call: never): PromiseLike<unknown>;
}

/**
 * The model that is trained. Its turns are recognised exactly when they come back, whatever the AI SDK made of them.
 *
 * @param otherwise the model where nothing is trained, in production
 * @example generateText({ model: rolloutModel(openai('gpt-5')), tools, prompt })
 */
export function rolloutModel(otherwise?: OtherModel): RolloutModel {
  const elsewhere = () =>
    rollouts.open === 0 && rollouts.scope.getStore() === undefined
      ? (otherwise as RolloutModel | undefined)
      : undefined;
  return {
    specificationVersion: 'v3',
    provider: 'agent_rl',
    modelId: 'policy',
    supportedUrls: {},
    doGenerate: async (call) => elsewhere()?.doGenerate(call) ?? generated(await answered(call)),
    doStream: async (call) =>
      elsewhere()?.doStream(call) ?? { stream: streamOf(generated(await answered(call))) },
  };
}

async function answered(call: ModelCall): Promise<unknown> {
  const scope = rollouts.scope.getStore();
  if (scope === undefined)
    throw new Error(
      rollouts.open === 0
        ? 'rolloutModel() was called outside a rollout. Pass the model to use in production: rolloutModel(openai(…)).'
        : 'rolloutModel() was called outside a rollout during training. A queue, a pool or an event emitter loses the context of a call. Call the model within the function that runs the agent.',
    );
  const response = await scope.fetch('http://agent_rl/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chatBody(call)),
    signal: call.abortSignal ?? null,
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const { message } = (answer as { error: { message: string } }).error;
  // Of what the AI SDK does not ask again.
  throw Object.assign(new Error(message), { name: 'AI_APICallError', statusCode: response.status });
}
