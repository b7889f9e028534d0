/** Something in a request that chat has no words for. */
export type Misfit = { readonly detail: string; readonly param: string };

/** Notes what cannot be translated: the first is what the caller is told. */
export class Misfits {
  #first: Misfit | undefined;

  get first(): Misfit | undefined {
    return this.#first;
  }

  note(param: string, why: string): void {
    this.#first ??= { param, detail: `${param} ${why}.` };
  }
}

/** What every rail of this server lacks that does not speak the dialect of Responses itself. */
export const NOT_HERE =
  'cannot be served by this model: none of its sources speaks the Responses API';
