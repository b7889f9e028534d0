import type { Spender } from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { Extension, Reserves } from '../../voice/billing/session-hold.ts';
import { MAIN_HOLD, type SessionHolds } from '../../voice/billing/session-holds.ts';
import { spokenCharsOf, type TurnCap } from '../../voice/billing/turn-meter.ts';
import type { CascadeHolds, Cascades } from '../../voice/cascade/cascade-deps.ts';
import { createCascadePipeline } from '../../voice/cascade/cascade-pipeline.ts';
import type { HoldNameOf } from '../../voice/cascade/model-binding.ts';
import type { OwnKeys } from '../../voice/cascade/own-keys.ts';
import type { CascadePlan } from '../../voice/cascade/plan-cascade.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import { createScriptedLlm } from '../../voice/session/scripted-llm.ts';
import type { Llm, VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import { pronouncedTts } from '../voice/tuning/pronounced-tts.ts';
import type { CallMeter } from './call-meter.ts';

/** Name of the hold for services that the operator pays: no money is held or charged under it. */
const OPERATOR = 'operator';
const EXTENDED: Extension = { kind: 'extended' };

/** Assumptions of a turn's cost: seconds of the caller's speech in a turn, and characters spoken in a second of an answer. */
const HEARD_SECONDS = 10;
const CHARS_PER_SECOND = 12;

/** Last words of a call whose money is used up. Each turn holds their cost, too. */
export const LAST_WORDS = 'I have to end this call now. Goodbye.';
const LAST_WORDS_SECONDS = 4;

export type CallPipelineDeps = Pick<
  VoiceDeps,
  'catalogue' | 'clock' | 'engines' | 'log' | 'random' | 'trace'
> & {
  readonly cascades: Cascades;
  readonly ownKeys: OwnKeys;
  readonly spender: Spender;
  readonly sessionHolds: SessionHolds;
  /** Returns the name of the hold that pays for the plan's LLM. */
  readonly holdNameOf: HoldNameOf;
  readonly plan: CascadePlan;
  /** Upper bounds of one turn. */
  readonly cap: TurnCap;
  /** The responder that replaces the plan's LLM and is not billed. Undefined: the LLM answers. */
  readonly responder: Llm | undefined;
  /** Words that the voice says as other texts. */
  readonly pronunciations: Parameters<typeof pronouncedTts>[1];
  /** Returns the text for a caller who has fallen silent; empty: none. */
  readonly prompt: () => string;
  readonly source: Source;
  readonly meter: CallMeter;
  /** Returns the age of the line in seconds. */
  readonly lineSeconds: () => number;
  /** Returns the number of characters spoken outside the answers since the last call of this function, for billing. */
  readonly takeSpoken: () => number;
};

/**
 * Creates the pipeline of a call. The agent pays the line, the recognised seconds and the spoken characters by the call's rate
 * card, and a model of the catalogue at its price there. The operator pays the transcriber and the synthesizer.
 */
export function createCallPipeline(deps: CallPipelineDeps): VoicePipeline {
  const { responder, cap, meter, plan, source } = deps;
  const cascade = createCascadePipeline({
    catalogue: deps.catalogue,
    clock: deps.clock,
    engines: deps.engines,
    log: deps.log,
    random: deps.random,
    trace: deps.trace,
    cascades: deps.cascades,
    plan,
    spender: deps.spender,
    sessionHolds: new BesideOperator(deps.sessionHolds),
    ownKeys: deps.ownKeys,
    holdNameOf: (model, seller) =>
      responder === undefined && model.id === plan.llm.id
        ? deps.holdNameOf(model, seller)
        : OPERATOR,
  });
  return {
    stt: cascade.stt,
    llm: createScriptedLlm(responder ?? cascade.llm, deps.prompt),
    voice: pronouncedTts(cascade.voice, deps.pronunciations),
    transcriberModel: cascade.transcriberModel,
    problemOf: cascade.problemOf,
    paymentsKnown: cascade.paymentsKnown,
    reserves(config, outputTokens = cap.outputTokens) {
      const mainRaw = turnOfLineRaw(meter, cap, {
        lineSeconds: deps.lineSeconds(),
        outputTokens,
      });
      return { ...ofModels(cascade.reserves(config, outputTokens)), [MAIN_HOLD]: mainRaw };
    },
    takeBill(use, requests) {
      const bought = cascade
        .takeBill(use, requests)
        .filter(({ sessionHold }) => sessionHold !== OPERATOR);
      const priced = meter.charge({
        lineSeconds: deps.lineSeconds(),
        sttSeconds: use.heardMs / 1_000,
        ttsCharacters: use.spokenChars + deps.takeSpoken(),
      });
      return [...bought, { source, usage: {}, priced }];
    },
  };
}

/**
 * Returns the upper bound of the cost of one turn without its model, on a line of this age: the line, recognition, speech and
 * the last words.
 */
export function turnOfLineRaw(
  meter: CallMeter,
  cap: TurnCap,
  { lineSeconds, outputTokens }: { readonly lineSeconds: number; readonly outputTokens: number },
): bigint {
  const ttsCharacters = spokenCharsOf(cap, outputTokens);
  const seconds = HEARD_SECONDS + ttsCharacters / CHARS_PER_SECOND + LAST_WORDS_SECONDS;
  return meter.quoteRaw({
    lineSeconds: lineSeconds + seconds,
    sttSeconds: HEARD_SECONDS,
    ttsCharacters: ttsCharacters + LAST_WORDS.length,
  });
}

/** Returns only the reserves of the models that the agent pays. */
const ofModels = ({ [OPERATOR]: _, [MAIN_HOLD]: __, ...reserves }: Reserves): Reserves => reserves;

class BesideOperator implements CascadeHolds {
  readonly #holds: SessionHolds;

  constructor(holds: SessionHolds) {
    this.#holds = holds;
  }

  get heldRaw(): bigint {
    return this.#holds.heldRaw;
  }

  get spentRaw(): bigint {
    return this.#holds.spentRaw;
  }

  async hold(name: string, totalRaw: bigint, isQuiet?: boolean): Promise<Extension> {
    return name === OPERATOR ? EXTENDED : this.#holds.hold(name, totalRaw, isQuiet);
  }

  async holdQuietly(name: string, totalRaw: bigint): Promise<boolean> {
    return name === OPERATOR || this.#holds.holdQuietly(name, totalRaw);
  }

  /** Extends the models' reserves alone. The cascade knows nothing of the line, whose part stays in the main hold. */
  async makeWhole(reserves: Reserves, isQuiet?: boolean): Promise<Extension> {
    const verdict = await this.#holds.makeWhole(ofModels(reserves), isQuiet);
    if (verdict.kind !== 'refused' || verdict.fits === undefined) return verdict;
    const { fits } = verdict;
    return { ...verdict, fits: (fewer) => fits(ofModels(fewer)) };
  }
}
