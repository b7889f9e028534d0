/** Throws when a condition that must hold does not. A failure is a bug: it ends the request or the actor, not the process. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${sentence}`);
}

/** Throws. The type of its parameter makes the compiler check that the code before it handles every member of a union. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${JSON.stringify(value)}`);
}
