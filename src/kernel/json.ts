/** A JSON object whose members are not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether members may be read of it; a list passes too, and has none of the names one asks for. */
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null;
