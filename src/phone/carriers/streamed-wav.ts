import type { FetchRequest, FetchStream } from '../../platform/egress/fetch.ts';
import { CarrierFailed } from './carrier.ts';
import { carrierAway, kindOfStatus } from './failed-answer.ts';

/** Streams a recording from its carrier. Undefined: the carrier does not have it. Throws CarrierFailed. */
export async function streamedWav(
  carrier: string,
  fetchStream: FetchStream,
  request: FetchRequest,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const { body, status } = await fetchStream(request).catch((cause: unknown) => {
    throw carrierAway(carrier, cause);
  });
  if (status === 200) return body;
  // Ends the unread body, which frees the connection.
  await body[Symbol.asyncIterator]().return?.();
  if (status === 404 || status === 410) return undefined;
  throw new CarrierFailed(kindOfStatus(status), `${carrier} answered ${status} for a recording`);
}
