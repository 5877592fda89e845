import { colours } from '../../runs/charts/palette.ts';

/**
 * A colour for each run shown. It follows from its place in the list, so that it stays when another is laid over; the next
 * free one where two would share it.
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
