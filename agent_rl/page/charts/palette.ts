/** Colours told apart by most colour-blind readers too (after Okabe and Ito), for a light and a dark ground. */
const palettes = {
  light: ['#0072b2', '#d55e00', '#00805a', '#aa4499', '#9a6d00', '#2b8fd0', '#6b4fbb', '#737373'],
  dark: ['#56b4e9', '#ff9248', '#2ec79a', '#e58fc8', '#f0c94d', '#8ab8ff', '#b49cff', '#b5b5b5'],
} as const;

const colours = palettes.light.length;

/** Dashes of lines that share a colour: the first is unbroken. */
const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3], [1, 5], [14, 4]];

export const colourOf = (index: number, isDark: boolean): string =>
  palettes[isDark ? 'dark' : 'light'][index % colours] ?? palettes.light[0];

export const dashOf = (index: number): number[] => [...(dashes[index % dashes.length] ?? [])];

/** The class that gives the same colour in a style sheet. */
export const swatchClass = (index: number): string => `c${index % colours}`;

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
