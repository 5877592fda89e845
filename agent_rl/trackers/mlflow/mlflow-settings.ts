import { type Static, Type } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import type { HttpClientOptions } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';

export const MlflowSettings = Type.Object(
  {
    url: Type.String({
      description: 'Address of the MLflow server.',
      minLength: 1,
      default: 'http://127.0.0.1:5000',
    }),
    experiment: Type.String({
      description: 'Name of the experiment; created if it does not exist.',
      minLength: 1,
      default: 'agent_rl',
    }),
    artifacts: Type.Boolean({
      description: 'Whether config.yaml and summary.json are uploaded.',
      default: true,
    }),
    tokenEnv: Type.Optional(
      Type.String({
        description: 'Environment variable that holds a bearer token.',
        minLength: 1,
      }),
    ),
    username: Type.Optional(
      Type.String({
        description: 'User name for basic authentication, with passwordEnv.',
        minLength: 1,
      }),
    ),
    passwordEnv: Type.Optional(
      Type.String({
        description: 'Environment variable that holds the password for basic authentication.',
        minLength: 1,
      }),
    ),
  },
  { additionalProperties: false },
);
export type MlflowSettings = Static<typeof MlflowSettings>;

/** The address of the server and the credentials for it. @throws AgentRlError `CONFIG_INVALID` */
export function accessOf(
  settings: MlflowSettings,
): Pick<HttpClientOptions, 'url' | 'token' | 'login'> {
  const { tokenEnv, username, passwordEnv } = settings;
  const url = serverUrl(settings.url, 'mlflow: url', 'passwordEnv or tokenEnv');
  const half = (username === undefined) !== (passwordEnv === undefined);
  if (half || (username !== undefined && tokenEnv !== undefined))
    throw new AgentRlError(
      'CONFIG_INVALID',
      'The tracker mlflow needs either tokenEnv alone or username and passwordEnv together. Set one or the other.',
    );
  const user = 'The tracker mlflow';
  if (tokenEnv !== undefined) return { url, token: secretOf(tokenEnv, { user }) };
  if (username === undefined || passwordEnv === undefined) return { url };
  return { url, login: { user: username, password: secretOf(passwordEnv, { user }) } };
}
