import {
  type ChargesOnHold,
  createChargesByHold,
} from '../../src/voice/cascade/charges-by-hold.ts';

/** The charges on one hold of a session. `afford` throws for a total that cannot be held. */
export function chargesOn(
  afford: (totalRaw: bigint, isQuiet: boolean) => Promise<void> = async () => {},
): ChargesOnHold {
  const sessionHolds = {
    async hold(_: string, totalRaw: bigint) {
      await afford(totalRaw, false);
      return { kind: 'extended' } as const;
    },
    async holdQuietly(_: string, totalRaw: bigint) {
      await afford(totalRaw, true);
      return true;
    },
  };
  return createChargesByHold(sessionHolds).of('main');
}
