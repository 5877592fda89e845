import { colours } from '../../runs/charts/palette.ts';

/**
 * A colour for each run on the charts. It follows from the run's place in the list, so that it stays when another run is
 * added; if two runs would share a colour, the second takes the next free one.
 */
export function runColours(
  listed: readonly string[],
  shown: readonly string[],
): ReadonlyMap<string, number> {
  const taken = new Set<number>();
  const given = new Map<string, number>();
  for (const id of listed.filter((one) => shown.includes(one))) {
    let colour = listed.indexOf(id) % colours;
    for (let tried = 0; taken.has(colour) && tried < colours; tried++)
      colour = (colour + 1) % colours;
    taken.add(colour);
    given.set(id, colour);
  }
  return given;
}
