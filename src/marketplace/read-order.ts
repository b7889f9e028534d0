import type { ZodError, z } from 'zod';
import { requestErrors } from '../http/route/errors.ts';
import type { SoundFile } from '../models/providers/vendors/vendor-api.ts';
import { codePointsOf } from '../models/speech/speech-request.ts';
import { OwnRefusal } from './errors.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { SERVICES, type ServiceBodies, type ServiceName } from './requests.ts';

/** Stands for a file before its download. It has the lowest price that a file can have. */
export const NO_FILE: SoundFile = {
  bytes: Buffer.alloc(0),
  durationMs: 1,
  contentType: '',
  name: '',
};

/** Reads the body of a request for a service. Throws OwnRefusal when the body does not fit the service. */
export const readBody = (service: ServiceName, body: unknown): ServiceBodies[ServiceName] =>
  readShape<ServiceBodies[ServiceName]>(SERVICES[service], body);

/** Reads a body by its shape. Throws OwnRefusal when the body does not fit the shape. */
export function readShape<T>(shape: z.ZodType<T>, body: unknown): T {
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new OwnRefusal(requestErrors.invalid(detailsOf(parsed.error)));
}

const DETAILS_SHOWN = 20;

const detailsOf = (error: ZodError) =>
  error.issues.slice(0, DETAILS_SHOWN).map(({ code, message, path }) => ({
    path: path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
    message,
    code,
  }));

/** Returns the number of code points in a text. Throws the refusal of a text that its vendor does not accept in one piece. */
export function requireShort(
  order: { readonly text: string } | { readonly input: string },
  mostChars: number = MARKETPLACE_LIMITS.request.textChars,
): number {
  const [member, text] = 'text' in order ? ['text', order.text] : ['input', order.input];
  const points = codePointsOf(text);
  if (points <= mostChars) return points;
  const message = `must have at most ${mostChars} characters`;
  throw requestErrors.invalid([{ path: [member], message, code: 'too_big' }]);
}
