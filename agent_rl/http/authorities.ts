import { readFileSync } from 'node:fs';
import { rootCertificates, createSecureContext } from 'node:tls';

import { AgentRlError, messageOf } from '../core/errors.ts';

export interface AuthoritiesOptions {
  /** PEM file of authorities trusted besides the usual ones. */
  caFile?: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Whom a connection trusts: the usual authorities and the ones in `caFile`; undefined, which is Node's own list, without such
 * a file.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a file that cannot be read or holds no certificate
 */
export function authorities({ caFile, environment }: AuthoritiesOptions): string[] | undefined {
  if (caFile === undefined) return undefined;
  // Your own list replaces Node's, and with it what Node was configured to trust.
  const files = [caFile, environment['NODE_EXTRA_CA_CERTS']].filter((file) => file !== undefined);
  return [...rootCertificates, ...files.filter((file) => file !== '').map(readAuthority)];
}

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch (cause) {
    throw unusable(file, messageOf(cause));
  }
  throw unusable(file, 'it contains no PEM certificate');
}

const unusable = (file: string, why: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `caFile ${file} cannot be used: ${why}.`);

/** The certificate and key of a server, as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Reads the certificate of a server and its key.
 *
 * @throws AgentRlError `CONFIG_INVALID` where one of them is missing, cannot be read, or does not belong to the other
 */
export function readCertificate(
  certFile: string | undefined,
  keyFile: string | undefined,
): Certificate | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--tls-${certFile === undefined ? 'key' : 'cert'} is given without --tls-${certFile === undefined ? 'cert' : 'key'}. A certificate needs its key: set both, or neither.`,
    );
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The certificate ${certFile} with the key ${keyFile} cannot be used: ${messageOf(cause)}. Use a PEM certificate and its own PEM key.`,
      { cause },
    );
  }
}
