import { finished } from 'node:stream/promises';

import type { Sampler } from '../../core/services/generator.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import {
  ClientBody,
  EpisodeBody,
  GenerateBody,
  otherWeights,
  paths,
  type ServerInfo,
  UseBody,
} from '../../generation/served/protocol.ts';
import type { Page } from '../../http/answer-request.ts';
import { Refusal } from '../../http/refusal.ts';
import { bodyReader } from './request-fields.ts';
import { TrainingClients } from './training-clients.ts';
import type { VersionGate } from './version-gate.ts';
import type { WeightInbox } from './weight-inbox.ts';

export interface TrainingParts {
  info: ServerInfo;
  sampler: Sampler;
  gate: VersionGate;
  /** Absent where its weights stay what they are. */
  replacing?: { inbox: WeightInbox; use: (weights: WeightRef) => Promise<void> };
  /** Seconds after which an episode or a client that asked for nothing is forgotten. */
  idleS: number;
}

const read = {
  client: bodyReader(ClientBody),
  episode: bodyReader(EpisodeBody),
  generate: bodyReader(GenerateBody),
  use: bodyReader(UseBody),
};

/** What `generator: served` asks: see `generation/served/protocol.ts`. */
export function trainingPages(parts: TrainingParts): { pages: readonly Page[]; close: () => void } {
  const { info, sampler, gate, replacing } = parts;
  const clients = new TrainingClients(sampler, parts.idleS);
  /** Whose weights are drawn from, where they are not those it began with. */
  let given: { client: string; version: number } | undefined;
  const pages: readonly Page[] = [
    { method: 'GET', path: /^\/agent_rl\/generator$/, answer: async () => info },
    {
      method: 'POST',
      path: at(paths.generate),
      answer: async ({ body, signal }) => {
        const { client, version, ...request } = read.generate(body);
        requireTokens(request, info);
        return gate.turn(async () => {
          const isWanted = given?.client === client && given.version === version;
          if (version !== undefined && !isWanted)
            throw new Refusal(
              409,
              `This server draws from ${given === undefined ? 'the weights that it began with' : `version ${given.version} of a training's weights`}, and not from your version ${version}.`,
              [],
              otherWeights,
            );
          const episode = clients.used(client, request.episode);
          const { drawn, agent, ...key } = request.key;
          const drawing = {
            ...key,
            ...(agent !== undefined && { agent }),
            ...(drawn !== undefined && { drawn }),
          };
          const generation = await sampler.generate({ ...request, episode, key: drawing }, signal);
          clients.used(client, request.episode);
          return generation;
        });
      },
    },
    {
      method: 'POST',
      path: at(paths.release),
      answer: async ({ body }) => {
        const { client, episode } = read.episode(body);
        clients.release(client, episode);
        return {};
      },
    },
    {
      method: 'POST',
      path: at(paths.leave),
      answer: async ({ body }) => {
        const { client } = read.client(body);
        clients.forget(client);
        await replacing?.inbox.forget(client);
        return {};
      },
    },
    {
      method: 'PUT',
      path: /^\/agent_rl\/weights\/(?<client>[a-zA-Z0-9-]{1,64})\/(?<name>[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127})$/,
      answer: async ({ groups, content }) => {
        if (replacing === undefined) throw notReplaced();
        const { client = '', name = '' } = groups;
        try {
          clients.own(client);
          await replacing.inbox.put(client, name, content);
        } catch (thrown) {
          // Else the caller is cut off in the middle of its file and never reads why.
          await finished(content.resume()).catch(() => undefined);
          throw thrown;
        }
        return {};
      },
    },
    {
      method: 'POST',
      path: at(paths.use),
      answer: async ({ body }) => {
        if (replacing === undefined) throw notReplaced();
        const { client, version, files } = read.use(body);
        clients.own(client);
        const location = replacing.inbox.whole(client, files);
        await gate.between(async () => {
          await replacing.use({ version, kind: 'folder', location });
          given = { client, version };
        });
        await replacing.inbox.forget(client);
        return {};
      },
    },
  ];
  return { pages, close: () => clients.close() };
}

const at = (path: string): RegExp => new RegExp(`^${path}$`);

const notReplaced = (): Refusal =>
  new Refusal(
    403,
    'This server keeps its weights. Start it with --accept-weights to train with it.',
  );

/** @throws Refusal for tokens that the model does not have */
function requireTokens({ tokens }: Pick<GenerateBody, 'tokens'>, { vocabSize }: ServerInfo): void {
  const unknown = tokens.find((token) => token >= vocabSize);
  if (unknown === undefined) return;
  throw new Refusal(400, `tokens: ${unknown} is not in the vocabulary of ${vocabSize}.`);
}
