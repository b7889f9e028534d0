import { assert } from '../../kernel/assert.ts';
import { holdWhatFits, largestFitting } from '../../ledger/rules/hold-what-fits.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { refuseHold } from '../../models/purchase/refuse-hold.ts';
import type { Extension, Reserves } from './session-hold.ts';
import type { SessionHolds } from './session-holds.ts';

type Refused = Extract<Extension, { kind: 'refused' }>;

/** Returns the upper bound of an ordinary turn's cost in each hold, with an answer of `outputTokens`. */
type ReservesOf = (outputTokens: number) => Reserves;

/**
 * Holds a turn with the longest answer that the balance and every cap allow. When not even a short answer fits, a cap that
 * suspends its agent does so.
 */
export async function holdTurn(
  sessionHolds: Pick<SessionHolds, 'makeWhole'>,
  reservesOf: ReservesOf,
  most: number,
): Promise<{ readonly verdict: Extension; readonly outputTokens: number }> {
  const least = Math.min(MODEL_LIMITS.tokens.leastOutput, most);
  const { verdict, wanted } = await holdWhatFits<number, Extension>({
    most,
    least: () => least,
    hold: (tokens, isQuiet) => sessionHolds.makeWhole(reservesOf(tokens), isQuiet),
    less: (tokens, _room, { fits }: Refused) =>
      fits && largestFitting({ least, most: tokens - 1 }, (fewer) => fits(reservesOf(fewer))),
  });
  return { verdict, outputTokens: wanted };
}

/**
 * Opens the holds of a session for its first turn, with the longest answer that the balance and every cap allow, and resolves
 * to the tokens of that answer. Throws the refusal; then nothing stays held.
 */
export async function openTurn(
  sessionHolds: SessionHolds,
  reservesOf: ReservesOf,
  most: number,
): Promise<number> {
  let outputTokens = most;
  await openSessionHolds(sessionHolds, async () => {
    const held = await holdTurn(sessionHolds, reservesOf, most);
    outputTokens = held.outputTokens;
    return held.verdict;
  });
  return outputTokens;
}

/**
 * Holds the first amounts of a session. Throws the refusal; then nothing stays held.
 *
 * @internal A test refuses one of several holds.
 */
export async function openSessionHolds(
  sessionHolds: SessionHolds,
  hold: () => Promise<Extension>,
): Promise<void> {
  let verdict: Extension = { kind: 'lost' };
  try {
    verdict = await hold();
  } finally {
    if (verdict.kind !== 'extended') {
      await sessionHolds.settle({ reason: 'not_opened', status: 'failed' });
    }
  }
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  assert(
    verdict.kind === 'extended',
    'a session that is being opened is known to this process alone',
  );
}
