import { AgentRlError } from '../core/errors.ts';

/**
 * A server's address without a slash at its end.
 *
 * @param setting where it stands, for messages
 * @param secretSetting where the name of the variable with its secret belongs
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function serverUrl(text: string, setting: string, secretSetting: string): string {
  const problem = problemOf(text, secretSetting);
  if (problem === undefined) return text.replace(/\/+$/, '');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${setting} ${problem}. Use the address of a server, such as http://127.0.0.1:8080.`,
  );
}

function problemOf(text: string, secretSetting: string): string | undefined {
  if (!URL.canParse(text)) return `${JSON.stringify(text)} is not an address`;
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') {
    return `begins with ${protocol}; it must be http: or https:`;
  }
  // Not shown: addresses end up in logs.
  if (username !== '' || password !== '')
    return `contains a password; put it in an environment variable and name that in ${secretSetting}`;
  return search !== '' || hash !== '' ? 'must not contain ? or #' : undefined;
}
