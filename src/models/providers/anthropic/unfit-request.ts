/** The request asks for something that a Messages upstream has no word for. The message names the field. */
export class UnfitRequest extends Error {
  override readonly name = 'UnfitRequest';

  /** The path of that field: `messages.0.role`. */
  get param(): string {
    const [field = ''] = this.message.split(' ');
    return field.replace(/\[(\d+)\]/g, '.$1');
  }
}

/** `what` is a sentence, and begins with the field's place in the request; it never quotes the caller. */
export function unfit(what: string): never {
  throw new UnfitRequest(what);
}
