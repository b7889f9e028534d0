import { E164 } from '../e164.ts';
import { phoneErrors } from '../errors.ts';
import type { CallParties, Carrier } from './carrier.ts';

export type TestRing = ReturnType<typeof createTestRing>;

/** Creates incoming test calls that no telephone makes, for developers without a carrier. */
export function createTestRing(carrier: Pick<Carrier, 'ring'> | undefined) {
  return {
    /**
     * Simulates an incoming call. Resolves with its id, or undefined when the call was not admitted. Throws
     * `telephony_unavailable` when the carrier has no simulated callers.
     */
    async ring(parties: CallParties): Promise<string | undefined> {
      const ring = carrier?.ring;
      if (ring === undefined) throw phoneErrors.noTestCallers();
      if (!E164.test(parties.from)) throw phoneErrors.noSuchCaller();
      return ring(parties);
    },
  };
}
