import { minRaw } from '../../kernel/amount.ts';
import type { RealtimeTokens } from '../../models/providers/realtime/metered-event.ts';
import { sessionPrice } from '../billing/session-hold.ts';
import { journalBought, type RelayMeter, type RelayMeterDeps } from './relay-meter.ts';
import { type BelievedTurn, TurnBound } from './turn-bound.ts';
import { TurnHold } from './turn-hold.ts';
import { carriedTokens, heardTokens, tokenUsage } from './turn-price.ts';

/**
 * Bills turns and transcripts by the tokens that the upstream reports, as far as possible. Without a report, a turn is
 * estimated from the audio carried, up to its hold, and marked; one that failed is free.
 */
export function createTokenMeter(deps: RelayMeterDeps): RelayMeter {
  const { model, owner, sessionHold } = deps;
  const { source } = owner;
  const bound = new TurnBound(model);
  const hold = new TurnHold(deps);
  const carried = { upBytes: 0, downBytes: 0 };

  /** An estimate never exceeds the hold of its turns. */
  function bill(tokens: RealtimeTokens, turns: number, isEstimated: boolean) {
    const usage = tokenUsage(source, tokens, turns);
    const pricedRaw = sessionPrice(source, usage);
    const costRaw = isEstimated ? minRaw(pricedRaw, hold.turnRaw * BigInt(turns)) : pricedRaw;
    if (costRaw === 0n) return undefined;
    return journalBought(deps, costRaw, isEstimated ? { ...usage, estimated: 1 } : usage);
  }

  /** Bills the possible part of a report. The rest is a shortfall of the source, not the agent's. */
  function billReported(reported: RealtimeTokens, turns: number, believed: BelievedTurn) {
    const priceOf = (tokens: RealtimeTokens) =>
      sessionPrice(source, tokenUsage(source, tokens, turns));
    const beyondRaw = priceOf(reported) - priceOf(believed.tokens);
    if (beyondRaw > 0n) sessionHold.disown(beyondRaw, believed.isImpossible);
    return bill(believed.tokens, turns, false);
  }

  function billEstimated(turns: number) {
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
    if (tokens === null && !isFailed) return billEstimated(1);
    forgetCarried();
    if (tokens === null) {
      hold.turnEnded();
      return undefined;
    }
    const believed = bound.turn(tokens);
    const { textIn, audioIn, textOut, audioOut } = believed.tokens;
    const promise = billReported(tokens, 1, believed);
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
      const reported = tokens ?? (seconds === null ? null : heardTokens(seconds));
      return reported === null ? undefined : billReported(reported, 0, bound.heard(reported));
    },
    makeWhole: (underWay) => hold.makeWhole(underWay),
    stopped() {},
    end(unreported) {
      if (unreported > 0) void billEstimated(unreported);
    },
  };
}
