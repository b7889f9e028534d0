import type { RealtimeSessionEvent } from '../../../machines/realtime-session.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { FinishedAnswer } from '../session/answering.ts';
import type { SessionTally } from '../session/session-tally.ts';
import { turnRefused } from '../session/voice-endings.ts';
import type { TurnCharge, VoicePipeline } from '../session/voice-pipeline.ts';
import { beyondRaw, owedRaw, paidRawOf } from './charge-price.ts';
import { holdTurn } from './hold-turn.ts';
import { type Bill, MAIN_HOLD, type SessionHolds } from './session-holds.ts';
import {
  boughtSoundTokens,
  renderUsage,
  soundTokens,
  type TurnRoom,
  type TurnUse,
} from './turn-meter.ts';

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
   * Journals what a turn bought, tells the client of it, and makes the reserve whole for the next one
   * when there `isNext`, with as long an answer as fits. Without an answer it bills speech alone. Resolves to what its session's
   * machine is to be told.
   */
  bill(
    answer: FinishedAnswer | undefined,
    heardMs: number,
    isNext: boolean,
  ): Promise<RealtimeSessionEvent>;
}

export function createTurnBilling(deps: BillingDeps): TurnBilling {
  const { cap, sessionHolds, pipeline, clock, tally } = deps;
  return {
    async bill(answer, heardMs, isNext) {
      const use: TurnUse = {
        textIn: answer?.outcome.textIn ?? 0,
        cachedIn: answer?.outcome.cachedIn ?? 0,
        textOut: answer?.outcome.textOut ?? 0,
        spokenMs: answer?.outcome.spokenMs ?? 0,
        spokenChars: answer?.outcome.spokenChars ?? 0,
        heardMs,
      };
      const bought = pipeline.takeBill(use, answer === undefined ? 0 : 1);
      const bills = billsOf(bought);
      const costRaw = bills.reduce((sumRaw, bill) => sumRaw + bill.costRaw, paidRawOf(bought));
      const journalFromMs = clock.monotonicMs();
      tally.heard(heardMs);
      if (answer !== undefined) tally.turnEnded();
      // The client learns of a turn only when its cost can no longer be lost.
      if (bills.length > 0 && (await sessionHolds.journal(bills)) === 'lost') return LOST;
      const journalMs = clock.monotonicMs() - journalFromMs;
      const sound = cap.countsSound ? soundTokens(use) : boughtSoundTokens(bought);
      answer?.writer.done(renderUsage(use, sound), {
        ...timings(answer, journalMs, tally),
        ...speculation(bought),
        cost_raw: String(costRaw),
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
    },
  };
}

/** What each hold pays of it, where that is anything. */
function billsOf(bought: readonly TurnCharge[]): Bill[] {
  const shares = new Map<string, TurnCharge[]>();
  for (const one of bought) {
    const { sessionHold = MAIN_HOLD } = one;
    const share = shares.get(sessionHold) ?? [];
    shares.set(sessionHold, [...share, one]);
  }
  return [...shares]
    .map(([sessionHold, share]) => ({
      sessionHold,
      costRaw: owedRaw(share),
      beyondRaw: beyondRaw(share),
      usage: usageOf(share),
    }))
    .filter((bill) => bill.costRaw > 0n);
}

/** What all of them used together, as the line of the journal has it. */
function usageOf(bought: readonly TurnCharge[]): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const { usage, isEstimated } of bought) {
    for (const [unit, amount] of Object.entries(usage)) {
      sum[unit] = Math.round(((sum[unit] ?? 0) + amount) * 1_000) / 1_000;
    }
    if (isEstimated === true) sum.estimated = (sum.estimated ?? 0) + 1;
  }
  return sum;
}

/** The cost of a speculated answer that was not used, where there was one. */
function speculation(bought: readonly TurnCharge[]): Readonly<Record<string, string>> {
  const vain = bought.filter(({ isSpeculated }) => isSpeculated);
  return vain.length === 0 ? {} : { speculation_cost_raw: String(owedRaw(vain) + paidRawOf(vain)) };
}

const BILLED: RealtimeSessionEvent = { type: 'turn.billed' };
const LOST: RealtimeSessionEvent = { type: 'claim.lost' };

/** Where the time of a turn went, in whole milliseconds since it began; strings, as metadata must be. */
function timings(
  answer: FinishedAnswer,
  journalMs: number,
  tally: Pick<SessionTally, 'stage'>,
): Readonly<Record<string, string>> {
  const stages = {
    prompt: answer.promptMs,
    reply: answer.outcome.replyMs,
    first_audio: answer.outcome.firstAudioMs,
    journal: journalMs,
  } as const;
  const shown: Record<string, string> = {};
  for (const [stage, ms] of Object.entries(stages)) {
    if (ms === undefined) continue;
    tally.stage(stage as keyof typeof stages, ms);
    shown[`${stage}_ms`] = String(Math.round(ms));
  }
  return shown;
}
