import type { HttpResponse } from 'uWebSockets.js';
import { LIMITS } from '../kernel/limits.ts';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'gone' };

/** What all requests of the process together hold of bodies. */
export type BodyBudget = { heldBytes: number; readonly maxBytes: number };

export type BodyReading = {
  /** Never rejects. */
  readonly body: Promise<Body>;
  /** Bytes of a refused body are still coming, so the connection cannot carry another request. */
  readonly brokeOff: boolean;
  /** Gives the held bytes back to the budget; safe to call more than once. */
  release(): void;
};

/**
 * Reads a body into one buffer, counting while it arrives. Must be called before the first await.
 * A body past the limit is read away for a while, because a client that is still writing when its
 * connection breaks never reads why.
 */
export function readBody(
  res: HttpResponse,
  options: {
    readonly limitBytes: number;
    readonly budget: BodyBudget;
    readonly onGone: (callback: () => void) => void;
  },
): BodyReading {
  const { limitBytes, budget } = options;
  const chunks: Buffer[] = [];
  let seenBytes = 0;
  let heldBytes = 0;
  let refused: 'too_large' | 'overloaded' | undefined;
  let wanted = true;

  const drop = () => {
    budget.heldBytes -= heldBytes;
    heldBytes = 0;
    chunks.length = 0;
  };

  const whole = new Promise<Body>((resolve) => {
    options.onGone(() => resolve({ kind: 'gone' }));

    res.onData((chunk, isLast) => {
      if (!wanted) return;
      seenBytes += chunk.byteLength;
      if (refused === undefined && seenBytes > limitBytes) refused = 'too_large';
      if (refused === undefined && budget.heldBytes + chunk.byteLength > budget.maxBytes) {
        refused = 'overloaded';
      }
      if (refused !== undefined) {
        drop();
        if (!isLast && seenBytes <= limitBytes + LIMITS.bodyDiscardBytes) return;
        reading.brokeOff = !isLast;
        resolve({ kind: refused });
        return;
      }

      // The chunk's memory is taken back when this callback returns.
      if (chunk.byteLength > 0) chunks.push(Buffer.from(new Uint8Array(chunk)));
      heldBytes += chunk.byteLength;
      budget.heldBytes += chunk.byteLength;
      if (isLast) resolve({ kind: 'whole', bytes: joined(chunks) });
    });
  });

  const reading = {
    body: whole,
    brokeOff: false,
    release: () => {
      wanted = false;
      drop();
    },
  };
  return reading;
}

/** The usual body comes in one piece and is not copied a second time. */
const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
