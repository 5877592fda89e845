/** Colours told apart by most colour-blind readers too (after Okabe and Ito), on a light and a dark ground. */
export const palette = {
  light: ['#0072b2', '#d55e00', '#00805a', '#aa4499', '#9a6d00', '#2b8fd0', '#6b4fbb', '#737373'],
  dark: ['#56b4e9', '#ff9248', '#2ec79a', '#e58fc8', '#f0c94d', '#8ab8ff', '#b49cff', '#b5b5b5'],
} as const;

/** How many different ones there are; the next curve has the first again. */
export const colours = palette.light.length;

/** The class that gives a colour in a style sheet. */
export const colourClass = (index: number): string => `c${index % colours}`;

/** Dashes of lines that share a colour: the first is unbroken. */
const dashes = ['none', '6 4', '2 3', '10 3 2 3', '1 5', '14 4'];

export const dashOf = (index: number): string => dashes[index % dashes.length] ?? 'none';
