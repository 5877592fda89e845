import type { Sampler } from '../../../core/services/generator.ts';
import type { WeightRef } from '../../../core/services/weights.ts';
import { AgentRlError } from '../../../core/errors.ts';
import {
  ClientBody,
  clientPattern,
  EpisodeBody,
  GenerateBody,
  otherWeights,
  paths,
  type ServerInfo,
  UseBody,
} from '../../../generation/served/protocol.ts';
import { type Page, page } from '../../../http/answer-request.ts';
import { Refusal } from '../../../http/refusal.ts';
import type { Places } from '../../../gateway/sampling/places.ts';
import { bodyReader } from '../../../gateway/dialects/request-fields.ts';
import { TrainingClients } from './training-clients.ts';
import type { WeightInbox } from './weight-inbox.ts';

export interface TrainingParts {
  info: ServerInfo;
  sampler: Sampler;
  places: Places;
  /** Absent where its weights stay what they are. */
  replacing: { inbox: WeightInbox; use: (weights: WeightRef) => Promise<void> } | undefined;
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
  const { info, sampler, places, replacing } = parts;
  const clients = new TrainingClients(places, parts.idleS);
  /** Whose weights are drawn from, where they are not those it began with. */
  let given: { client: string; version: number } | undefined;
  const pages: readonly Page[] = [
    page('GET', at(paths.info), async () => info),
    page('POST', at(paths.generate), async ({ body, signal }) => {
      const { client, version, ...request } = read.generate(body);
      requireTokens(request, info);
      return clients.turn({ client, episode: request.episode, signal }, (episode) => {
        const isWanted = given?.client === client && given.version === version;
        if (version !== undefined && !isWanted)
          throw new Refusal(
            409,
            `This server samples from ${given === undefined ? 'its initial weights' : `version ${given.version} of a training run's weights`}, not from version ${version} of your weights.`,
            [],
            otherWeights,
          );
        return sampler.generate({ ...request, episode }, signal);
      });
    }),
    page('POST', at(paths.release), async ({ body }) => {
      const { client, episode } = read.episode(body);
      clients.release(client, episode);
      return {};
    }),
    page('POST', at(paths.leave), async ({ body }) => {
      const { client } = read.client(body);
      clients.forget(client);
      await replacing?.inbox.forget(client);
      return {};
    }),
    page('PUT', at(`${paths.file}(?<client>${clientPattern})/${fileName}`), async (request) => {
      const { groups, content } = request;
      if (replacing === undefined) throw notReplaced();
      const { client = '', name = '' } = groups;
      clients.own(client);
      await replacing.inbox.put(client, name, content);
      return {};
    }),
    page('POST', at(paths.use), async ({ body }) => {
      if (replacing === undefined) throw notReplaced();
      const { client, version, files } = read.use(body);
      clients.own(client);
      const location = replacing.inbox.whole(client, files);
      try {
        await places.between(async () => {
          await replacing.use({ version, kind: 'folder', location });
          given = { client, version };
        });
      } catch (thrown) {
        throw refusedIfWrong(thrown, location);
      } finally {
        await replacing.inbox.forget(client);
      }
      return {};
    }),
  ];
  return { pages, close: () => clients.close() };
}

const fileName = '(?<name>[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127})';

const at = (path: string): RegExp => new RegExp(`^${path}$`);

const notReplaced = (): Refusal =>
  new Refusal(
    403,
    'This server does not accept weights. To train with this server, start it with --accept-weights.',
  );

/** Weights that cannot be used are the client's mistake, said without the folder that they lie in here. */
function refusedIfWrong(thrown: unknown, location: string): unknown {
  if (!AgentRlError.is(thrown) || !wrongWeights.has(thrown.code)) return thrown;
  const text = thrown.message.replaceAll(`${location}/`, '').replaceAll(location, 'the folder');
  return new Refusal(400, text.slice(0, 2000), [{ path: ['files'], message: 'cannot be used' }]);
}

const wrongWeights: ReadonlySet<string> = new Set(['MODEL_INVALID', 'CHECKPOINT_INVALID']);

/** @throws Refusal for tokens that the model does not have */
function requireTokens({ tokens }: Pick<GenerateBody, 'tokens'>, { vocabSize }: ServerInfo): void {
  const unknown = tokens.find((token) => token >= vocabSize);
  if (unknown === undefined) return;
  throw new Refusal(400, `tokens: ${unknown} is not in the vocabulary of ${vocabSize}.`);
}
