import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

import { AgentRlError, messageOf } from '../core/errors.ts';

/** What a server shows to be known by, as PEM. */
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
      `--tls-${certFile === undefined ? 'key' : 'cert'} is given without --tls-${certFile === undefined ? 'cert' : 'key'}. A certificate and its key go together: give both, or neither.`,
    );
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The certificate ${certFile} with the key ${keyFile} cannot be used: ${messageOf(cause)}. Give PEM files that belong together.`,
      { cause },
    );
  }
}
