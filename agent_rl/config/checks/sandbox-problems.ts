import type { Config } from '../config-schema.ts';

type SandboxSettings = Pick<Config['sandbox'], 'type'> &
  Partial<Pick<Config['sandbox'], 'url' | 'tokenEnv' | 'caFile' | 'python' | 'preload'>>;

/** What is wrong with one setting of `sandbox`, given its type. */
export interface SandboxProblem {
  setting: 'type' | 'url' | 'tokenEnv' | 'caFile' | 'python' | 'preload';
  /** Follows the name of the setting. Values are left out: an address may hold a password. */
  text: string;
}

const remedies = {
  remote: 'Set it on the server instead, or remove it from the run file.',
  pyodide: 'Use a native sandbox, or remove this setting.',
  own: 'Set sandbox.type to remote, or remove this setting.',
} as const;

/** Settings that have no effect with the type, and settings that it requires. */
export function sandboxProblems({
  type,
  url,
  tokenEnv,
  caFile,
  python,
  preload = [],
}: SandboxSettings): readonly SandboxProblem[] {
  const ofServers = { url, tokenEnv, caFile };
  const ofNative = { python, preload: preload.length > 0 ? preload : undefined };
  const idle =
    type === 'remote' ? ofNative : type === 'pyodide' ? { ...ofServers, ...ofNative } : ofServers;
  const problems = Object.entries(idle).flatMap(([setting, value]): SandboxProblem[] => {
    if (value === undefined) return [];
    const native = setting in ofNative;
    const remedy = remedies[!native ? 'own' : type === 'remote' ? 'remote' : 'pyodide'];
    const text = `has no effect with sandbox.type ${type}. ${remedy}`;
    return [{ setting: setting as SandboxProblem['setting'], text }];
  });
  if (type !== 'remote') return problems;
  if (url !== undefined) return [...problems, ...idleAuthorities(url, caFile)];
  const text =
    "is remote, but sandbox.url is not set. Set it to the server's address, such as http://127.0.0.1:8080.";
  return [...problems, { setting: 'type', text }];
}

/** Only https: uses certificates. */
function idleAuthorities(
  url: NonNullable<SandboxSettings['url']>,
  caFile: string | undefined,
): SandboxProblem[] {
  if (caFile === undefined || [url].flat().some((one) => /^https:/i.test(one))) return [];
  const text =
    'has no effect: no address in sandbox.url begins with https:. Start the server with --tls-cert and --tls-key, or remove this setting.';
  return [{ setting: 'caFile', text }];
}
