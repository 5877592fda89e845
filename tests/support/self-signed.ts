import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const openssl = ['/usr/bin/openssl', '/usr/local/bin/openssl', '/opt/homebrew/bin/openssl'].find(
  (path) => existsSync(path),
);

/** Whether certificates can be made here. */
export const hasOpenssl = openssl !== undefined;

/** Makes a certificate that is its own authority, for `localhost` and 127.0.0.1, and its key: two files in a folder. */
export function selfSigned(folder: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-days', '2', '-subj', '/CN=localhost', '-addext', names];
  const files = ['-keyout', key, '-out', cert];
  execFileSync(openssl ?? '', ['req', '-x509', ...curve, ...subject, ...files], {
    stdio: 'ignore',
  });
  return { cert, key };
}
