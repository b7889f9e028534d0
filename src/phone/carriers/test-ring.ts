import { errors } from '../../kernel/errors.ts';
import { E164 } from '../e164.ts';
import type { CallParties, Carrier } from './carrier.ts';

export type TestRing = ReturnType<typeof createTestRing>;

/** Creates incoming test calls that no telephone makes, for developers without a carrier. */
export function createTestRing(carrier: Pick<Carrier, 'ring'> | undefined) {
  return {
    /**
     * Rings a number as a stranger. Our name of the call, or undefined where it was not admitted. Throws
     * `telephony_unavailable` where the carrier has real callers only.
     */
    async ring(parties: CallParties): Promise<string | undefined> {
      const ring = carrier?.ring;
      if (ring === undefined) throw errors.phone.noTestCallers();
      if (!E164.test(parties.from)) throw errors.phone.noSuchCaller();
      return ring(parties);
    },
  };
}
