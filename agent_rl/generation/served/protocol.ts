import { Type, type Static } from '../../core/typebox.ts';

/*
 * What `generator: served` and `agent-rl serve` say to each other, JSON over HTTP. Numbers survive JSON bit by bit.
 */

/** Another number where one side would misunderstand the other. */
export const protocolVersion = 1;

export const paths = {
  /** GET: `ServerInfo`. */
  info: '/agent_rl/generator',
  /** POST `GenerateBody`: a `Generation`. */
  generate: '/agent_rl/generate',
  /** POST `EpisodeBody`. */
  release: '/agent_rl/release',
  /** PUT a file: `weightFile(client, name)`. */
  file: '/agent_rl/weights/',
  /** POST `UseBody`: the files that were put are read, and drawn from. */
  use: '/agent_rl/weights',
  /** POST `ClientBody`: its episodes and files are forgotten. */
  leave: '/agent_rl/leave',
} as const;

/** Files of weights that a server takes: the files of a model, or of an adapter. */
export const filesOfWeights: readonly string[] = [
  'config.json',
  'model.safetensors',
  'adapter_config.json',
  'adapter_model.safetensors',
];

export const weightFile = (client: string, name: string): string =>
  `${paths.file}${client}/${encodeURIComponent(name)}`;

/** Code of the answer 409 to a request for a version that the server does not draw from. */
export const otherWeights = 'other_weights';

/** The description that a server gives of itself. */
export interface ServerInfo {
  protocol: number;
  name: string;
  maxContextTokens: number;
  vocabSize: number;
  /** See `textFingerprint`. */
  text: string;
  /** Requests it takes at once, those that wait included. */
  requests: number;
  /** Whether its weights may be replaced. */
  acceptsWeights: boolean;
  /** Whether it draws from packed weights, which differ in floating point from generation in one process. */
  packs: boolean;
}

/** Random, so that no one else can speak for a client: a UUID of version 4. */
export const clientPattern = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const client = Type.String({ pattern: `^${clientPattern}$` });
const tokens = Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 2 ** 24 });

export const ClientBody = Type.Object({ client });

export const EpisodeBody = Type.Object({ client, episode: Type.String() });

export const GenerateBody = Type.Object({
  client,
  /** Of the weights that are to draw; whichever there are by default. */
  version: Type.Optional(Type.Integer({ minimum: 0 })),
  episode: Type.String(),
  tokens: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 2 ** 24 }),
  opening: Type.Optional(Type.Integer({ minimum: 1 })),
  maxTokens: Type.Integer({ minimum: 0 }),
  stopTokens: tokens,
  sampling: Type.Object({
    temperature: Type.Number({ minimum: 0 }),
    topK: Type.Integer({ minimum: 0 }),
    topP: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
    minP: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  key: Type.Object({
    seed: Type.Number(),
    taskId: Type.String(),
    sample: Type.Integer({ minimum: 0 }),
    turn: Type.Integer({ minimum: 0 }),
    agent: Type.Optional(Type.String()),
    drawn: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
});
export type GenerateBody = Static<typeof GenerateBody>;

export const UseBody = Type.Object({
  client,
  version: Type.Integer({ minimum: 0 }),
  /** SHA-256 of each file, by name. */
  files: Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' })),
});
