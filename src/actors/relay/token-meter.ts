import { minRaw } from '../../kernel/amount.ts';
import type { RealtimeTokens } from '../../rails/realtime/metered-event.ts';
import { LEDGER_AWAY, turnRefused } from '../voice-endings.ts';
import { sessionPrice } from '../voice-purse.ts';
import { journalBought, type RelayMeter, type RelayMeterDeps } from './relay-meter.ts';
import { carriedTokens, heardTokens, relayTurnRaw, tokenUsage } from './turn-price.ts';

/**
 * Bills each turn by the tokens that its upstream counts, and each transcript of what was heard. A turn that it does
 * not count is estimated by the sound that was carried, for no more than was held for it, and marked; one that failed
 * then was none. What is held covers every turn under way, the next one at least.
 */
export function createTokenMeter(deps: RelayMeterDeps): RelayMeter {
  const { model, owner } = deps;
  const { source } = owner;
  const carried = { upBytes: 0, downBytes: 0 };
  let turnRaw = relayTurnRaw(model, source, 0);

  /** An estimate comes to no more than what is held for its turns. */
  function bill(tokens: RealtimeTokens, turns: number, isEstimated: boolean) {
    const usage = tokenUsage(source, tokens, turns);
    const pricedRaw = sessionPrice(source, usage);
    const costRaw = isEstimated ? minRaw(pricedRaw, turnRaw * BigInt(turns)) : pricedRaw;
    if (costRaw === 0n) return undefined;
    return journalBought(deps, costRaw, isEstimated ? { ...usage, estimated: 1 } : usage);
  }

  function billUntold(turns: number) {
    const promise = bill(carriedTokens(carried), turns, true);
    forgetCarried();
    return promise;
  }

  function forgetCarried(): void {
    carried.upBytes = 0;
    carried.downBytes = 0;
  }

  function billTurn(tokens: RealtimeTokens | null, isFailed: boolean) {
    if (tokens === null && !isFailed) return billUntold(1);
    forgetCarried();
    if (tokens === null) return undefined;
    const { textIn, audioIn, textOut, audioOut } = tokens;
    const promise = bill(tokens, 1, false);
    turnRaw = relayTurnRaw(model, source, textIn + audioIn + textOut + audioOut);
    return promise;
  }

  const makeWhole = createTurnHold(deps, () => turnRaw);

  return {
    carried(direction, bytes) {
      if (direction === 'up') carried.upBytes += bytes;
      else carried.downBytes += bytes;
    },
    began: makeWhole,
    done: ({ tokens, isFailed }) => billTurn(tokens, isFailed),
    heard({ tokens, seconds }) {
      const told = tokens ?? (seconds === null ? null : heardTokens(seconds));
      return told === null ? undefined : bill(told, 0, false);
    },
    makeWhole,
    stopped() {},
    end(unheardOf) {
      if (unheardOf > 0) void billUntold(unheardOf);
    },
  };
}

/** Holds what the turns under way may cost, one at least, asking once at a time. */
function createTurnHold(
  { life, purse, tell }: RelayMeterDeps,
  turnRaw: () => bigint,
): (underWay: number) => void {
  let isExtending = false;
  let wantedTurns = 1;

  async function extend(): Promise<void> {
    const missingRaw = turnRaw() * BigInt(wantedTurns) - (purse.heldRaw - purse.spentRaw);
    if (missingRaw <= 0n) return;
    const verdict = await purse.extend(missingRaw);
    if (verdict.kind === 'lost') tell({ type: 'claim.lost' });
    if (verdict.kind !== 'refused') return;
    tell({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
  }

  function makeWhole(underWay: number): void {
    wantedTurns = Math.max(1, underWay);
    if (isExtending) return;
    isExtending = true;
    const asked = { turnRaw: turnRaw(), wantedTurns };
    extend()
      .catch((error: unknown) => {
        life.logError(error, 'ledger is away from a relayed session');
        tell({ type: 'session.failed', ending: LEDGER_AWAY });
      })
      .finally(() => {
        isExtending = false;
        // More may have been wanted while this was asked for.
        if (asked.wantedTurns < wantedTurns || asked.turnRaw < turnRaw()) makeWhole(wantedTurns);
      });
  }

  return makeWhole;
}
