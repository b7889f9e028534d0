import type { VoiceSessionEvent } from '../../../machines/voice-session.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SessionTally } from '../live/session-tally.ts';
import { turnRefused } from '../live/voice-endings.ts';
import type { AnswerReceipt } from '../session/answer-request.ts';
import type { FinishedAnswer } from '../session/answering.ts';
import type { SessionConfig } from '../session/session-config.ts';
import type { TurnCharge, VoicePipeline } from '../session/voice-pipeline.ts';
import { beyondRaw, owedRaw, paidRawOf } from './charge-price.ts';
import { holdTurn } from './hold-turn.ts';
import { MAIN_HOLD, type SessionCharge, type SessionHolds } from './session-holds.ts';
import { boughtSoundTokens, soundTokens, type TurnRoom, type TurnUse } from './turn-meter.ts';

export type BillingDeps = {
  readonly sessionHolds: Pick<SessionHolds, 'journal' | 'makeWhole'>;
  readonly cap: Pick<TurnRoom, 'countsSound' | 'mostOutputTokens' | 'outputTokens'>;
  readonly pipeline: Pick<VoicePipeline, 'reserves' | 'takeBill'>;
  readonly config: () => SessionConfig;
  readonly tally: Pick<SessionTally, 'heard' | 'stage' | 'turnEnded'>;
  readonly clock: Clock;
};

export interface TurnBilling {
  /**
   * Journals a turn's charges (of speech alone when there is no answer) and sends the client its receipt. With `isNext`, holds
   * the next turn with the longest answer that can be held. Resolves to the event for the session's machine.
   */
  bill(
    finished: FinishedAnswer | undefined,
    heardMs: number,
    isNext: boolean,
  ): Promise<VoiceSessionEvent>;
  /** Journals the usage up to now of a turn in progress. Holds nothing, because the turn is held as a whole. */
  journal(used: Pick<TurnUse, 'heardMs' | 'spokenChars'>): Promise<'written' | 'lost'>;
}

export function createTurnBilling(deps: BillingDeps): TurnBilling {
  const { cap, sessionHolds, pipeline, clock, tally } = deps;
  return {
    async bill(finished, heardMs, isNext) {
      try {
        return await bill(finished, heardMs, isNext);
      } finally {
        // Ends the trace of a turn whose charge was not journaled. A journaled turn's trace has ended already.
        finished?.trace?.billed(undefined);
      }
    },
    async journal({ heardMs, spokenChars }) {
      const use = { textIn: 0, textOut: 0, spokenMs: 0, spokenChars, heardMs };
      const bills = billsOf(pipeline.takeBill(use, 0));
      tally.heard(heardMs);
      return bills.length > 0 ? sessionHolds.journal(bills) : 'written';
    },
  };

  async function bill(
    ...[finished, heardMs, isNext]: Parameters<TurnBilling['bill']>
  ): Promise<VoiceSessionEvent> {
    const use: TurnUse = {
      textIn: finished?.outcome.textIn ?? 0,
      cachedIn: finished?.outcome.cachedIn ?? 0,
      textOut: finished?.outcome.textOut ?? 0,
      spokenMs: finished?.outcome.spokenMs ?? 0,
      spokenChars: finished?.outcome.spokenChars ?? 0,
      heardMs,
    };
    const bought = pipeline.takeBill(use, finished === undefined ? 0 : 1);
    const bills = billsOf(bought);
    const costRaw = bills.reduce((sumRaw, bill) => sumRaw + bill.costRaw, paidRawOf(bought));
    const journalFromMs = clock.monotonicMs();
    tally.heard(heardMs);
    if (finished !== undefined) tally.turnEnded();
    // The client receives the turn's end only when its charge can no longer be lost.
    if (bills.length > 0 && (await sessionHolds.journal(bills)) === 'lost') return LOST;
    const journalMs = clock.monotonicMs() - journalFromMs;
    finished?.trace?.billed({
      inputTokens: use.textIn,
      cachedTokens: use.cachedIn ?? 0,
      outputTokens: use.textOut,
      costRaw,
    });
    const sound = cap.countsSound ? soundTokens(use) : boughtSoundTokens(bought);
    finished?.answer.done({
      tokens: {
        textIn: use.textIn,
        cachedIn: use.cachedIn ?? 0,
        textOut: use.textOut,
        heard: sound.heard,
        spoken: sound.spoken,
      },
      costRaw,
      speculationCostRaw: speculationCostRaw(bought),
      stagesMs: stagesOf(finished, journalMs, tally),
    });
    if (!isNext) return BILLED;

    const config = deps.config();
    const reservesOf = (outputTokens: number) => pipeline.reserves(config, outputTokens);
    const held = await holdTurn(sessionHolds, reservesOf, cap.mostOutputTokens);
    const { verdict: extension } = held;
    if (extension.kind === 'extended') cap.outputTokens = held.outputTokens;
    if (extension.kind === 'refused') {
      return { type: 'budget.spent', ending: turnRefused(extension.refusal) };
    }
    return extension.kind === 'lost' ? LOST : BILLED;
  }
}

/** Groups charges by the hold that pays them. Holds without an amount due are left out. */
function billsOf(bought: readonly TurnCharge[]): SessionCharge[] {
  const shares = new Map<string, TurnCharge[]>();
  for (const one of bought) {
    const { sessionHold = MAIN_HOLD } = one;
    const share = shares.get(sessionHold);
    if (share === undefined) shares.set(sessionHold, [one]);
    else share.push(one);
  }
  return (
    [...shares]
      .map(([sessionHold, share]) => ({
        sessionHold,
        costRaw: owedRaw(share),
        beyondRaw: beyondRaw(share),
        usage: usageOf(share),
        isPriced: share.some(({ priced }) => priced !== undefined),
      }))
      // A charge with a price of its own (`priced`) is journaled even when its share costs nothing.
      .filter((bill) => bill.costRaw > 0n || bill.isPriced)
  );
}

/** Returns the summed usage of the charges, as a journal entry contains it. */
function usageOf(bought: readonly TurnCharge[]): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const { usage, isEstimated, priced } of bought) {
    for (const [unit, amount] of Object.entries(priced?.usage ?? usage)) {
      sum[unit] = Math.round(((sum[unit] ?? 0) + amount) * 1_000) / 1_000;
    }
    if (isEstimated === true) sum.estimated = (sum.estimated ?? 0) + 1;
  }
  return sum;
}

/** Returns the cost of speculative answers that were not used; undefined when the turn had no such answers. */
function speculationCostRaw(bought: readonly TurnCharge[]): bigint | undefined {
  const unused = bought.filter(({ isSpeculated }) => isSpeculated);
  return unused.length === 0 ? undefined : owedRaw(unused) + paidRawOf(unused);
}

const BILLED: VoiceSessionEvent = { type: 'turn.billed' };
const LOST: VoiceSessionEvent = { type: 'claim.lost' };

/** Returns the duration of each stage of a turn, and adds it to the session's tally. */
function stagesOf(
  { outcome, promptMs }: FinishedAnswer,
  journalMs: number,
  tally: Pick<SessionTally, 'stage'>,
): AnswerReceipt['stagesMs'] {
  const stages = {
    prompt: promptMs,
    reply: outcome.replyMs,
    first_audio: outcome.firstAudioMs,
    journal: journalMs,
  } as const;
  const known: Partial<Record<keyof typeof stages, number>> = {};
  for (const [stage, ms] of Object.entries(stages)) {
    if (ms === undefined) continue;
    tally.stage(stage as keyof typeof stages, ms);
    known[stage as keyof typeof stages] = ms;
  }
  return known;
}
