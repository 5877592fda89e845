import { existsSync, readFileSync } from 'node:fs';

/** Most memory this process has held at once. */
export function peakResidentBytes(): number {
  const status = '/proc/self/status';
  const own = existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1];
  // Elsewhere what the operating system counts; on Linux that would begin with the peak of whoever started this one.
  return 1024 * (own ? Number(own) : process.resourceUsage().maxRSS);
}
