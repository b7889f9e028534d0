import { minRaw } from '../../../kernel/amount.ts';
import { sessionPrice } from '../../../voice/billing/session-hold.ts';
import { UPSTREAM_DISTRUSTED } from '../../../voice/live/voice-endings.ts';
import { journalBought, type RelayMeterDeps } from '../../../voice/relay/relay-hold.ts';
import type { MeteredEvent, RealtimeTokens } from './metered-event.ts';
import type { CarriedFrame, RelayMeter } from './relay-meter.ts';
import { type ClampedTurn, TurnBound } from './turn-bound.ts';
import { TurnHold } from './turn-hold.ts';
import { carriedTokens, heardTokens, tokenUsage } from './turn-price.ts';

type Charged = Promise<bigint | undefined> | undefined;

/**
 * Bills turns and transcripts by the tokens that the upstream reports, up to the possible number. Without a report, a turn is
 * estimated from the forwarded audio, up to its hold, and marked as estimated; a failed turn is free.
 */
export class TokenMeter implements RelayMeter {
  readonly #deps: RelayMeterDeps;
  readonly #bound: TurnBound;
  readonly #hold: TurnHold;
  readonly #carried = { upBytes: 0, downBytes: 0 };
  /** The source reported impossible usage: the session pays nothing more, and ends. */
  #isCaught = false;

  constructor(deps: RelayMeterDeps) {
    this.#deps = deps;
    this.#bound = new TurnBound(deps.model, deps.owner.source);
    this.#hold = new TurnHold(deps);
  }

  carried(direction: 'up' | 'down', frame: CarriedFrame): void {
    if (direction === 'up') {
      this.#bound.sent(frame.bytes, frame.isSound === true);
      this.#carried.upBytes += frame.bytes;
    } else {
      this.#bound.received(frame);
      this.#carried.downBytes += frame.bytes;
    }
    this.#hold.carried(direction, frame.tokens);
  }

  began(underWay: number): void {
    this.makeWhole(underWay);
  }

  done({ isFailed, tokens }: Extract<MeteredEvent, { kind: 'done' }>): Charged {
    if (tokens === null && !isFailed) return this.#billEstimated(1);
    this.#forgetCarried();
    if (tokens === null) {
      this.#hold.turnEnded();
      return undefined;
    }
    const believed = this.#bound.turn(tokens);
    const { textIn, audioIn, textOut, audioOut } = believed.tokens;
    const charged = this.#billReported(tokens, 1, believed);
    this.#hold.turnEnded(textIn + audioIn + textOut + audioOut);
    return charged;
  }

  heard({ seconds, tokens }: Extract<MeteredEvent, { kind: 'heard' }>): Charged {
    const reported = tokens ?? (seconds === null ? null : heardTokens(seconds));
    if (reported === null) return undefined;
    return this.#billReported(reported, 0, this.#bound.heard(reported));
  }

  /** Ends the session of a caught source instead, once the client has received the turn that caught it. */
  makeWhole(underWay: number): void {
    if (this.#isCaught) {
      this.#deps.send({ type: 'session.failed', ending: UPSTREAM_DISTRUSTED });
    } else this.#hold.makeWhole(underWay);
  }

  stopped(): void {}

  end(unreported: number): void {
    if (unreported > 0) void this.#billEstimated(unreported);
  }

  /** Bills the possible part of a report. The excess is a shortfall of the source, not the agent's. */
  #billReported(reported: RealtimeTokens, turns: number, believed: ClampedTurn): Charged {
    const { owner, sessionHold } = this.#deps;
    const priceOf = (tokens: RealtimeTokens) =>
      sessionPrice(owner.source, tokenUsage(owner.source, tokens, turns));
    const paidRaw = this.#isCaught ? 0n : priceOf(believed.tokens);
    const beyondRaw = priceOf(reported) - paidRaw;
    const isNews = believed.isImpossible && !this.#isCaught;
    if (beyondRaw > 0n) sessionHold.disown(beyondRaw, isNews);
    if (this.#isCaught) return undefined;
    this.#isCaught = believed.isImpossible && owner.source.rail !== 'byok';
    return this.#bill(believed.tokens, turns, false);
  }

  #billEstimated(turns: number): Charged {
    if (this.#isCaught) return undefined;
    const tokens = carriedTokens(this.#carried);
    const charged = this.#bill(tokens, turns, true);
    this.#bound.estimated(tokens);
    this.#forgetCarried();
    this.#hold.turnEnded();
    return charged;
  }

  /** Bills tokens. An estimate never exceeds the hold of its turns. */
  #bill(tokens: RealtimeTokens, turns: number, isEstimated: boolean): Charged {
    const { source } = this.#deps.owner;
    const usage = tokenUsage(source, tokens, turns);
    const pricedRaw = sessionPrice(source, usage);
    const costRaw = isEstimated ? minRaw(pricedRaw, this.#hold.turnRaw * BigInt(turns)) : pricedRaw;
    if (costRaw === 0n) return undefined;
    return journalBought(this.#deps, costRaw, isEstimated ? { ...usage, estimated: 1 } : usage);
  }

  #forgetCarried(): void {
    this.#carried.upBytes = 0;
    this.#carried.downBytes = 0;
  }
}
