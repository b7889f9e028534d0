import type { Ledger } from '../../../ledger/rules/ledger.ts';
import type { Destination, HoldRefusal, Spender } from '../../../ledger/rules/requests.ts';

/**
 * Returns the refusal of the balance or a cap to a hold of `raw` for a new call. Undefined when the hold is allowed. No money
 * stays held.
 */
export async function askLedger(
  ledger: Pick<Ledger, 'hold' | 'settle'>,
  {
    callId,
    destination,
    isQuiet,
    raw,
    spender,
  }: {
    readonly callId: string;
    readonly destination: Destination;
    readonly raw: bigint;
    readonly spender: Spender;
    /** A cap that stops its agent refuses without doing so. */
    readonly isQuiet?: boolean;
  },
): Promise<HoldRefusal | undefined> {
  if (raw === 0n) return undefined;
  const asked = await ledger.hold({
    spender,
    holdId: `admit:${callId}.${destination.host}`,
    amountRaw: raw,
    destination,
    ...(isQuiet === true && { isQuiet }),
  });
  if (asked.kind === 'refused') return asked.refusal;
  const { hold } = asked;
  await ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: 'phone' });
  return undefined;
}
