/** A JSON object whose members are not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns true for values with members that can be read. A list passes too, without the names that callers look for. */
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null;
