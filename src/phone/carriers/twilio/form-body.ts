import { PHONE_LIMITS } from '../../limits.ts';

/** Parameters of a form: each name with all its values, in their order. */
export type Form = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the parameters of a form-encoded body. Returns undefined when the body has more bytes or parameters than a carrier
 * sends.
 */
export function readForm(body: Uint8Array): Form | undefined {
  if (body.length > PHONE_LIMITS.carrier.callbackBytes) return undefined;
  const form = new Map<string, string[]>();
  let parameters = 0;
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString())) {
    if (++parameters > PHONE_LIMITS.carrier.callbackParameters) return undefined;
    const values = form.get(name);
    if (values === undefined) form.set(name, [value]);
    else values.push(value);
  }
  return form;
}

/** Returns the first value of a parameter. */
export const fieldOf = (form: Form, name: string): string | undefined => form.get(name)?.[0];
