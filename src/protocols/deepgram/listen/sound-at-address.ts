import { abortSignalOf } from '../../../kernel/stop-signal.ts';
import { createBytesInFlight } from '../../../marketplace/bytes-in-flight.ts';
import type { FileCallerOf } from '../../../marketplace/fetch-file.ts';
import type { FetchSound } from '../../../marketplace/fetch-sound.ts';
import { createNamedSlots } from '../../../marketplace/named-slots.ts';
import type { Buyer } from '../../../models/purchase/buyer.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { type HeardFile, remoteRefusal } from './listen-file.ts';

export interface SoundAtAddress {
  /**
   * Fetches the file at a URL of the caller, through the destination guard and the agent's allowlist, and passes it to `use`.
   * The file takes one of a bounded number of slots until `use` is done. Throws the refusal.
   */
  with<T>(url: string, buyer: Buyer, use: (file: HeardFile) => Promise<T>): Promise<T>;
}

/** Creates the fetcher of files at URLs. It has its own limits on the number of files and on their bytes in memory. */
export function createSoundAtAddress(deps: {
  readonly fetchSound: FetchSound;
  readonly fileCallerOf: FileCallerOf;
}): SoundAtAddress {
  const { bytesInFlight, files } = DEEPGRAM_LIMITS;
  const room = createNamedSlots(files);
  const shareOf = createBytesInFlight(bytesInFlight);
  return {
    with: (url, buyer, use) => {
      const { accountId, signal, spender } = buyer;
      const { agentId } = spender;
      return room('files', { agentId, accountId }, async () => {
        const share = shareOf(accountId);
        try {
          const file = await deps
            .fetchSound(url, {
              ...deps.fileCallerOf(spender),
              share,
              signal: abortSignalOf(signal),
            })
            .catch((error: unknown) => {
              throw remoteRefusal(error);
            });
          return await use(file);
        } finally {
          share.shrinkTo(0);
        }
      });
    },
  };
}
