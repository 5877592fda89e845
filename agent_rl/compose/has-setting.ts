/** Whether a plugin declares a setting of this name. */
export const hasSetting = (
  { settings }: { settings?: { properties?: object } },
  name: string,
): boolean => Object.hasOwn(settings?.properties ?? {}, name);
