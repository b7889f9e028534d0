import { z } from 'zod';
import type { PlatformCaller } from '../../http/route/caller.ts';
import type { PlatformRequest } from '../../orchestrators/verify-request.ts';

export const PlatformParams = z.object({ provider: z.string(), token: z.string() });

/** Returns the request of a platform. Its body is read only when its token is known. */
export const platformRequest = (
  { provider, token }: z.output<typeof PlatformParams>,
  {
    body,
    caller,
    headers,
  }: {
    readonly body: AsyncIterable<Uint8Array> | undefined;
    readonly caller: PlatformCaller;
    readonly headers: ReadonlyMap<string, string>;
  },
): PlatformRequest => ({
  provider,
  token,
  headers,
  readBody: () => readAll(body),
  attempt: caller.attempt,
});

/** Reads a body, whose bytes the server has bounded as they came. */
async function readAll(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}
