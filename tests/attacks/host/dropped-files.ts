import { readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const common =
  '/ /tmp /var/tmp /dev/shm /dev/mqueue /etc /usr /usr/lib/python3 /run /dev /home /root';

/** Folders where programs often leave files. */
export const droppingPlaces = (packageRoot: string, workFolder: string): readonly string[] => {
  const harness = join(packageRoot, 'agent_rl', 'sandbox', 'harness');
  const own = [tmpdir(), homedir(), packageRoot, harness, workFolder, process.cwd()];
  return [...new Set([...common.split(' '), ...own])];
};

/** Removes the files with the marker in their name, and reports them. */
export function takeDropped(places: readonly string[], marker: string): readonly string[] {
  return places.flatMap((place) =>
    namesIn(place)
      .filter((name) => name.includes(marker))
      .map((name) => {
        rmSync(join(place, name), { recursive: true, force: true });
        return `left ${join(place, name)} behind`;
      }),
  );
}

function namesIn(place: string): readonly string[] {
  try {
    return readdirSync(place);
  } catch {
    // The folder does not exist, or this user may not read it.
    return [];
  }
}
