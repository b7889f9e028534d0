import type { Outcome } from '../outcome.ts';

/** Thrown for a request with a feature that the Messages dialect lacks. The message begins with the field's name. */
class UnfitRequest extends Error {
  override readonly name = 'UnfitRequest';

  /** Path of the field that the message names: `messages.0.role`. */
  get param(): string {
    const [field = ''] = this.message.split(' ');
    return field.replace(/\[(\d+)\]/g, '.$1');
  }
}

/** Throws UnfitRequest. `what` is a sentence that begins with the field's place in the request and never quotes the caller. */
export function unfit(what: string): never {
  throw new UnfitRequest(what);
}

/** Returns the outcome of a request whose translation threw `error`. Rethrows an error other than UnfitRequest. */
export function unfitOutcome(error: unknown): Outcome<never> {
  if (!(error instanceof UnfitRequest)) throw error;
  return { kind: 'unfit', detail: error.message, param: error.param };
}
