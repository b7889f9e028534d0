import type { Outcome } from '../outcome.ts';

/** The request asks for something that a Messages upstream has no word for. The message names the field. */
export class UnfitRequest extends Error {
  override readonly name = 'UnfitRequest';

  /** Path of the field that the message names: `messages.0.role`. */
  get param(): string {
    const [field = ''] = this.message.split(' ');
    return field.replace(/\[(\d+)\]/g, '.$1');
  }
}

/** `what` is a sentence, and begins with the field's place in the request; it never quotes the caller. */
export function unfit(what: string): never {
  throw new UnfitRequest(what);
}

/** Returns the outcome of a request whose translation threw `error`. Rethrows an error other than UnfitRequest. */
export function unfitOutcome(error: unknown): Outcome<never> {
  if (!(error instanceof UnfitRequest)) throw error;
  return { kind: 'unfit', detail: error.message, param: error.param };
}
