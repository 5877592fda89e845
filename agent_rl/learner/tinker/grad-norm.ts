/** Norm of the gradient among what a step measured, by the last part of its name; undefined where it is not there. */
export function gradNormOf(metrics: ReadonlyMap<string, number>): number | undefined {
  for (const [name, value] of metrics) if (/(?:^|[/.:])grad_norm$/.test(name)) return value;
  return undefined;
}
