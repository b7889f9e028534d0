import { type Clock, within } from '../../../kernel/clock.ts';
import { parseObject } from '../../../kernel/json/parse-json.ts';
import { type Failed, failed } from '../outcome.ts';
import type { LiveUpstream } from './upstream-socket.ts';

/**
 * Waits for the first sign of life of an upstream that has taken the upgrade: what is wrong with it, or nothing. One that
 * goes or refuses before it has said anything else has failed. So has one that says nothing in `ms`, where its protocol
 * greets; where it does not, that is all there is to be seen.
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

/** Nothing of its words is kept: they may quote the credential. */
function problemOf(first: Awaited<ReturnType<LiveUpstream['first']>>): Failed | undefined {
  if (first.kind === 'closed') return failed('broken', `closed ${first.code} at once`);
  return isError(first.bytes) ? failed('broken', 'refused at once') : undefined;
}

/** `error` in one protocol, `Error` in the other. */
function isError(frame: Buffer): boolean {
  const { type } = parseObject(frame);
  return type === 'error' || type === 'Error';
}
