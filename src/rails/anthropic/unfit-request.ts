/** The request asks for something that a Messages upstream has no word for. The message names the field. */
export class UnfitRequest extends Error {
  override readonly name = 'UnfitRequest';
}

/** `what` is a sentence, and begins with the field's place in the request; it never quotes the caller. */
export function unfit(what: string): never {
  throw new UnfitRequest(what);
}
