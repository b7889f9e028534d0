import { type Clock, within } from '../../../kernel/clock.ts';
import { parseObject } from '../../../kernel/json/parse-json.ts';
import { type Failed, failed } from '../outcome.ts';
import type { LiveUpstream } from './upstream-socket.ts';

/**
 * Waits up to `ms` for the first message of an upstream that accepted the upgrade, and returns its failure, if any. It has
 * failed when it closes or sends an error first, or when it stays silent although its protocol begins with a greeting. Silence
 * is no failure in a protocol without a greeting.
 */
export async function awaitFirstSign(
  upstream: LiveUpstream,
  { clock, greets, ms }: { readonly clock: Clock; readonly greets: boolean; readonly ms: number },
): Promise<Failed | undefined> {
  const first = await within(clock, ms, upstream.first(), () => undefined);
  const failure = first === undefined ? silence(greets) : problemOf(first);
  if (failure !== undefined) upstream.close();
  else upstream.pause();
  return failure;
}

const silence = (greets: boolean): Failed | undefined =>
  greets ? failed('timeout', 'it did not greet') : undefined;

/** Returns the failure that an upstream's first message reports. Its text is dropped, because it may quote the credential. */
function problemOf(first: Awaited<ReturnType<LiveUpstream['first']>>): Failed | undefined {
  if (first.kind === 'closed') return failed('broken', `closed ${first.code} at once`);
  return isError(first.bytes) ? failed('broken', 'refused at once') : undefined;
}

/** Returns true for an error message. Its type is `error` in one protocol and `Error` in the other. */
function isError(frame: Buffer): boolean {
  const { type } = parseObject(frame);
  return type === 'error' || type === 'Error';
}
