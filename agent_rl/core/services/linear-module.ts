/** The linear layers of a decoder's block, by their names below `model.layers.N`. */
export const linearModules = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const;

export type LinearModule = (typeof linearModules)[number];

/** The last part of a layer's name, as PEFT's `target_modules` has it. */
export function shortName(module: LinearModule): string {
  return module.slice(module.indexOf('.') + 1);
}

/** Names for several layers at once. */
export const linearPresets: Readonly<Record<string, readonly LinearModule[]>> = {
  attention: linearModules.slice(0, 4),
  mlp: linearModules.slice(4),
  'all-linear': linearModules,
};

/** What an adapter's targets may be called: presets, and each layer's own name. */
export const adapterTargetNames: readonly string[] = [
  ...Object.keys(linearPresets),
  ...linearModules.map(shortName),
];
