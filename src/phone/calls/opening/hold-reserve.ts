import { minRaw } from '../../../kernel/amount.ts';
import { holdWhatFits } from '../../../ledger/rules/hold-what-fits.ts';
import type { Extension } from '../../../voice/billing/session-hold.ts';
import { MAIN_HOLD, type SessionHolds } from '../../../voice/billing/session-holds.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { leastReserve } from './least-reserve.ts';

/**
 * Holds the reserve of an answered call. An outbound call holds its `maxSpendRaw`, or is refused. An inbound call has no client
 * that could set a smaller reserve: it holds all that the balance and the caps leave, and at least the reserve that admission
 * required.
 */
export async function holdReserve(
  deps: Pick<CallDeps, 'catalogue' | 'cascades' | 'models'>,
  call: Call,
  holds: Pick<SessionHolds, 'hold'>,
): Promise<Extension> {
  const { direction, maxSpendRaw } = call;
  if (direction === 'outbound') return holds.hold(MAIN_HOLD, maxSpendRaw);
  // A voice whose model is no longer sold is refused when its models are opened.
  const needRaw = (await leastReserve(deps, call))?.raw ?? maxSpendRaw;
  const leastRaw = minRaw(needRaw, maxSpendRaw);
  const { verdict } = await holdWhatFits<bigint, Extension>({
    most: maxSpendRaw,
    least: () => leastRaw,
    hold: (raw, isQuiet) => holds.hold(MAIN_HOLD, raw, isQuiet),
    less: (raw, { availableRaw }) =>
      availableRaw >= leastRaw && availableRaw < raw ? availableRaw : undefined,
  });
  return verdict;
}
