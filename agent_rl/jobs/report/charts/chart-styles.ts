/** Colours of curves on light and dark backgrounds. */
const palette = [
  ['#1d4ed8', '#60a5fa'],
  ['#b45309', '#fbbf24'],
  ['#047857', '#34d399'],
  ['#7e22ce', '#c084fc'],
  ['#be185d', '#f472b6'],
  ['#0e7490', '#22d3ee'],
  ['#4b5563', '#9ca3af'],
  ['#4d7c0f', '#a3e635'],
] as const;

/** How many different ones there are; the next curve has the first again. */
export const colours = palette.length;

const inColours = (shade: 0 | 1): string =>
  palette
    .map(
      (pair, place) =>
        `.l${place} { stroke: ${pair[shade]}; } .d${place} { fill: ${pair[shade]}; }`,
    )
    .join(' ');

/** Without custom properties, which viewers of pictures other than browsers do not know. */
export const chartStyles = `
svg text { font: 12px system-ui, sans-serif; fill: #374151; }
svg .heading { font-size: 14px; font-weight: 600; fill: #111827; }
svg .grid { stroke: #e5e7eb; } svg .axis { stroke: #6b7280; } svg .soft { fill: #6b7280; }
svg .line { fill: none; stroke-width: 2; } svg .interval { stroke-width: 1.5; }
${inColours(0)}
@media (prefers-color-scheme: dark) {
  svg text { fill: #d1d5db; } svg .heading { fill: #f3f4f6; }
  svg .grid { stroke: #374151; } svg .axis { stroke: #9ca3af; } svg .soft { fill: #9ca3af; }
  ${inColours(1)}
}`;
