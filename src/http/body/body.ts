import type { HttpResponse } from 'uWebSockets.js';
import { joinPieces } from '../../kernel/long-work.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { type BodyBudget, BodyShare, type OverBudget } from './body-budget.ts';
import { ReadPace } from './read-pace.ts';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: OverBudget }
  | { readonly kind: 'gone' };

export type BodyReading = {
  /** Resolves with the body, or with the reason why there is none. Never rejects. */
  readonly body: Promise<Body>;
  /** True while bytes of a refused body still arrive, so that the connection cannot carry another request. */
  readonly brokeOff: boolean;
  /** Counts the body's bytes as this caller's from now on. Refuses the body when it exceeds the caller's bound. */
  belongsTo(caller: string): void;
  /** Counts `bytes` of data that was made from the body as held, too. */
  hold(bytes: number): OverBudget | undefined;
  /** Resumes the connection. Call it before the answer is written: after that the response is invalid. */
  letGo(): void;
  /** Gives the held bytes back to the budget; safe to call more than once. */
  release(): void;
};

/**
 * Reads a body into one buffer, counting while it arrives. Must be called before the first await. A body past the limit is read
 * away for a while, because a client that is still writing when its connection breaks never reads the refusal.
 */
export function readBody(
  res: HttpResponse,
  options: {
    readonly limitBytes: number;
    readonly budget: BodyBudget;
    readonly onGone: (callback: () => void) => void;
  },
): BodyReading {
  const { limitBytes } = options;
  const share = new BodyShare(options.budget);
  const pace = new ReadPace(res);
  const chunks: Buffer[] = [];
  let seenBytes = 0;
  let refused: 'too_large' | OverBudget | undefined;
  let wanted = true;

  const drop = () => {
    share.giveBack();
    chunks.length = 0;
  };

  const whole = new Promise<Body>((resolve) => {
    options.onGone(() => {
      pace.end();
      resolve({ kind: 'gone' });
    });

    res.onData((chunk, isLast) => {
      if (!wanted) return;
      seenBytes += chunk.byteLength;
      if (isLast) pace.lastByteCame();
      else if (chunk.byteLength > HTTP_LIMITS.body.streamAheadBytes) {
        pace.pause();
        pace.resumeInTurn();
      }
      if (refused === undefined && seenBytes > limitBytes) refused = 'too_large';
      refused ??= share.take(chunk.byteLength);
      if (refused !== undefined) {
        drop();
        if (!isLast && seenBytes <= limitBytes + HTTP_LIMITS.body.discardBytes) return;
        reading.brokeOff = !isLast;
        resolve({ kind: refused });
        return;
      }

      // The library reuses the chunk's memory when this callback returns.
      if (chunk.byteLength > 0) chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (isLast) resolve(joined(chunks));
    });
  }).then((read) => (refused === undefined ? read : { kind: refused }));

  const reading = {
    body: whole,
    brokeOff: false,
    belongsTo(caller: string) {
      if (refused !== undefined) return;
      refused = share.belongsTo(caller);
      if (refused !== undefined) drop();
    },
    hold: (bytes: number) => (wanted ? share.take(bytes) : 'overloaded'),
    letGo: () => {
      wanted = false;
      pace.letGo();
    },
    release: () => {
      wanted = false;
      pace.end();
      drop();
    },
  };
  return reading;
}

/** Joins the pieces of a body. The usual body comes in one piece and is not copied a second time. */
function joined(chunks: readonly Buffer[]): Body | Promise<Body> {
  const bytes = joinPieces(chunks);
  if (bytes instanceof Promise) return bytes.then((all) => ({ kind: 'whole', bytes: all }));
  return { kind: 'whole', bytes };
}
