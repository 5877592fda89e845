import { randomBytes } from 'node:crypto';

/** Matches every secret, but not its own text. */
export const secretPattern = 'SECRE[T]-[0-9a-f]{24}';

export const newSecret = (): string => `SECRET-${randomBytes(12).toString('hex')}`;
