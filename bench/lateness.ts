import type { SocketHandler } from '../src/http/route/socket-route.ts';

/** How long messages took from their client's `send` until they were worked off. */
export type Lateness = Readonly<Record<'frames' | 'late' | 'p50Ms' | 'p99Ms' | 'mostMs', number>>;

/** How many messages are looked at: of 600 callers for half a minute. */
const MOST_TIMED = 1_000_000;

/** Notes how old messages are once they are worked off. `agedMicros` reads their stamp. */
export function createLateness({
  agedMicros,
  isTimed,
  lateMs,
}: {
  readonly agedMicros: (message: Uint8Array) => number | undefined;
  readonly isTimed: boolean;
  /** What counts as late. */
  readonly lateMs: number;
}) {
  /** Outside the heap, and as large from the beginning: what is measured must not collect its measurements. */
  const micros = new Int32Array(isTimed ? MOST_TIMED : 0);
  let timed = 0;
  return {
    workedOff(message: Uint8Array): void {
      const aged = isTimed ? agedMicros(message) : undefined;
      if (aged !== undefined && timed < micros.length) micros[timed++] = aged;
    },
    figures(): Lateness {
      const sorted = micros.subarray(0, timed).sort();
      const ms = (place: number) => (sorted[Math.floor(place)] ?? Number.NaN) / 1_000;
      const early = sorted.findIndex((each) => each > lateMs * 1_000);
      return {
        frames: timed,
        late: early < 0 ? 0 : timed - early,
        p50Ms: ms(timed / 2),
        p99Ms: ms(timed * 0.99),
        mostMs: ms(timed - 1),
      };
    },
    /** Tells how many messages are forgotten. */
    forget(): number {
      const forgotten = timed;
      timed = 0;
      return forgotten;
    },
  };
}

/** A handler whose frames count as worked off once it has handled them. */
export const timedHandler = (
  handler: SocketHandler,
  lateness: Pick<ReturnType<typeof createLateness>, 'workedOff'>,
): SocketHandler => ({
  opened: (connection) => handler.opened(connection),
  message: (data) => handler.message(data),
  frame(bytes, isBinary) {
    handler.frame?.(bytes, isBinary);
    lateness.workedOff(bytes);
  },
  drained: () => handler.drained?.(),
  draining: () => handler.draining?.(),
  closed: (code, reason) => handler.closed(code, reason),
});
