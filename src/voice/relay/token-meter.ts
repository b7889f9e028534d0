import { minRaw } from '../../kernel/amount.ts';
import type { RealtimeTokens } from '../../models/providers/realtime/metered-event.ts';
import { sessionPrice } from '../billing/session-hold.ts';
import { journalBought, type RelayMeter, type RelayMeterDeps } from './relay-meter.ts';
import { type BelievedTurn, TurnBound } from './turn-bound.ts';
import { TurnHold } from './turn-hold.ts';
import { carriedTokens, heardTokens, tokenUsage } from './turn-price.ts';

/**
 * Bills each turn by the tokens that its upstream counts, as far as it can have had them, and each transcript of what was
 * heard. A turn that it does not count is estimated by the sound that was carried, for no more than was held for it, and
 * marked; one that failed then was none.
 */
export function createTokenMeter(deps: RelayMeterDeps): RelayMeter {
  const { model, owner, sessionHold } = deps;
  const { source } = owner;
  const bound = new TurnBound(model);
  const hold = new TurnHold(deps);
  const carried = { upBytes: 0, downBytes: 0 };

  /** An estimate comes to no more than what is held for its turns. */
  function bill(tokens: RealtimeTokens, turns: number, isEstimated: boolean) {
    const usage = tokenUsage(source, tokens, turns);
    const pricedRaw = sessionPrice(source, usage);
    const costRaw = isEstimated ? minRaw(pricedRaw, hold.turnRaw * BigInt(turns)) : pricedRaw;
    if (costRaw === 0n) return undefined;
    return journalBought(deps, costRaw, isEstimated ? { ...usage, estimated: 1 } : usage);
  }

  /** As far as it can be; the rest is not the agent's. */
  function billTold(told: RealtimeTokens, turns: number, believed: BelievedTurn) {
    const priceOf = (tokens: RealtimeTokens) =>
      sessionPrice(source, tokenUsage(source, tokens, turns));
    const beyondRaw = priceOf(told) - priceOf(believed.tokens);
    if (beyondRaw > 0n) sessionHold.disown(beyondRaw, believed.isImpossible);
    return bill(believed.tokens, turns, false);
  }

  function billUntold(turns: number) {
    const promise = bill(carriedTokens(carried), turns, true);
    forgetCarried();
    hold.turnEnded();
    return promise;
  }

  function forgetCarried(): void {
    carried.upBytes = 0;
    carried.downBytes = 0;
  }

  function billTurn(tokens: RealtimeTokens | null, isFailed: boolean) {
    if (tokens === null && !isFailed) return billUntold(1);
    forgetCarried();
    if (tokens === null) {
      hold.turnEnded();
      return undefined;
    }
    const believed = bound.turn(tokens);
    const { textIn, audioIn, textOut, audioOut } = believed.tokens;
    const promise = billTold(tokens, 1, believed);
    hold.turnEnded(textIn + audioIn + textOut + audioOut);
    return promise;
  }

  return {
    carried(direction, { bytes, isSound = false, tokens }) {
      bound.carried(direction, bytes, isSound);
      if (direction === 'up') carried.upBytes += bytes;
      else carried.downBytes += bytes;
      hold.carried(direction, tokens);
    },
    began: (underWay) => hold.makeWhole(underWay),
    done: ({ tokens, isFailed }) => billTurn(tokens, isFailed),
    heard({ tokens, seconds }) {
      const told = tokens ?? (seconds === null ? null : heardTokens(seconds));
      return told === null ? undefined : billTold(told, 0, bound.heard(told));
    },
    makeWhole: (underWay) => hold.makeWhole(underWay),
    stopped() {},
    end(unheardOf) {
      if (unheardOf > 0) void billUntold(unheardOf);
    },
  };
}
