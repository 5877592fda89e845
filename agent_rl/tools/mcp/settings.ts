import { integer, number, text, within } from '../../config/blocks/block.ts';
import { webProperties } from '../../search/web/index.ts';
import { type Static, Type } from '../../core/typebox.ts';

const names = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 });

/** The block of an MCP server in YAML. */
export const McpSettings = Type.Object({
  name: text('Name of the server, for messages and for tools whose name another tool has', {
    pattern: '^[a-z][a-z0-9_]*$',
    maxLength: 32,
    default: 'mcp',
  }),
  command: Type.Optional({
    ...names,
    description:
      'Program and arguments that start the server, which talks over its standard input and output',
  }),
  url: Type.Optional(text('Address of a server that talks over HTTP', { pattern: '^https?://' })),
  env: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), {
    default: [],
    description: 'Environment variables that the program receives, besides PATH, HOME and the like',
  }),
  apiKeyEnv: Type.Optional(
    text('Environment variable with a key that is sent to url as a bearer token', {
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
    }),
  ),
  allow: Type.Optional({
    ...names,
    description: "Tools that the agent may call, by the server's names; all by default",
  }),
  isolation: Type.Optional(
    Type.Enum(['shared', 'session', 'process'], {
      description:
        'What episodes share. process: each has a process of its own. session: each has a session of its own with the server at url. shared: all use one connection, for tools that keep nothing. By default process with command and session with url',
    }),
  ),
  warm: integer('Processes or sessions that are kept ready for the next episodes', {
    ...within(0, 64, 2),
    idleWith: { isolation: 'shared' },
  }),
  connectS: number('Seconds in which a server must be there', within(0.1, 600, 30)),
  deadlineS: number(
    'Seconds without an answer or a report of progress after which a call is given up',
    within(0.1, 3600, 30),
  ),
  longestS: number('Seconds that a call may take with all its progress', within(0.1, 36_000, 300)),
  maxContentChars: integer(
    'Maximum characters of an answer shown; the cut is marked',
    within(40, 100_000, 4000),
  ),
  cassette: webProperties.cassette,
});
export type McpSettings = Static<typeof McpSettings>;

export type Isolation = NonNullable<McpSettings['isolation']>;

export const isolationOf = ({ isolation, command }: McpSettings): Isolation =>
  isolation ?? (command === undefined ? 'session' : 'process');

/** @throws Error for settings that contradict each other */
export function checkMcp(settings: McpSettings): void {
  const { command, url, env, apiKeyEnv, isolation, deadlineS, longestS } = settings;
  if ((command === undefined) === (url === undefined))
    throw new Error('needs either command or url.');
  if (url === undefined && apiKeyEnv !== undefined)
    throw new Error('apiKeyEnv is sent to url. With command, name variables in env.');
  if (command === undefined && env.length > 0)
    throw new Error('env is for a program that command starts. With url, set apiKeyEnv.');
  if (isolation === 'process' && command === undefined)
    throw new Error('isolation process needs command. With url, use session or shared.');
  if (isolation === 'session' && url === undefined)
    throw new Error('isolation session needs url. With command, use process or shared.');
  if (longestS < deadlineS) throw new Error('longestS is shorter than deadlineS.');
}
