/** Reason why a request cannot be translated into chat, with the parameter that causes it. */
export type Misfit = { readonly detail: string; readonly param: string };

/** Notes members that cannot be translated. The refusal names the first. */
export class Misfits {
  #first: Misfit | undefined;

  get first(): Misfit | undefined {
    return this.#first;
  }

  note(param: string, why: string): void {
    this.#first ??= { param, detail: `${param} ${why}.` };
  }
}

/** Reason why a member is refused when no source of the model speaks the Responses API. */
export const NOT_HERE =
  'cannot be served by this model: none of its sources speaks the Responses API';
