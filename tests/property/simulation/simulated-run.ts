import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Checkpoint, Session, type Simulation } from './simulated-session.ts';
import { Killed, VirtualClock } from './virtual-clock.ts';

export interface KilledSimulation extends Simulation {
  /** At which sleep of each session it is killed; the last session is not. */
  kills: readonly number[];
}

/** What came of it. */
export interface Simulated {
  weights: string;
  sessions: number;
  /** What must not happen, in words. */
  broken: string[];
}

export async function simulate({ kills, ...simulation }: KilledSimulation): Promise<Simulated> {
  // Without a disk, where there is memory that can be written to as files.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const journal = mkdtempSync(join(parent, 'agent-rl-simulation-'));
  const broken: string[] = [];
  const recorded = new Set<string>();
  let checkpoint: Checkpoint | undefined;
  try {
    for (let session = 0; ; session++) {
      const clock = new VirtualClock(`${simulation.seed} ${session}`, kills[session]);
      const own = new Session({ ...simulation, clock, journal, broken, recorded, checkpoint });
      try {
        const weights = await clock.run(own.run());
        return { weights, sessions: session + 1, broken };
      } catch (thrown) {
        if (!(thrown instanceof Killed)) throw thrown;
        own.kill();
        checkpoint = own.checkpoint;
        tear(journal, simulation.seed + session);
      }
    }
  } finally {
    rmSync(journal, { recursive: true });
  }
}

/** Sometimes the last event was being written. */
function tear(journal: string, seed: number): void {
  const open = readdirSync(journal)
    .filter((name) => name.endsWith('.open'))
    .toSorted()
    .at(-1);
  if (open === undefined || seed % 3 > 0) return;
  const file = join(journal, open);
  truncateSync(file, Math.max(0, statSync(file).size - 1 - (seed % 7)));
}
