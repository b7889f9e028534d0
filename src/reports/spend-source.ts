/** Sources of spend that a policy could have refused before it was made. */
export const ENFORCEABLE_SOURCES = ['proxy', 'gateway', 'byok', 'phone', 'streaming'] as const;

/** Sources of spend that is reported after it was made. `guard` is the ledger upload. */
export const RECONCILED_SOURCES = [
  'guard',
  'vapi',
  'retell',
  'bland',
  'pipecat',
  'livekit',
] as const;

/** Sources whose calls are answered at once. The latency of any other call is its duration. */
export const REQUEST_SOURCES = ['proxy', 'gateway', 'byok'] as const;

export type SpendSource =
  | (typeof ENFORCEABLE_SOURCES)[number]
  | (typeof RECONCILED_SOURCES)[number];

export type SpendClass = 'enforceable' | 'reconciled';

const RECONCILED: ReadonlySet<string> = new Set(RECONCILED_SOURCES);

/** Returns `reconciled` for spend that is only reported after it was made. */
export const classOf = (source: string): SpendClass =>
  RECONCILED.has(source) ? 'reconciled' : 'enforceable';
