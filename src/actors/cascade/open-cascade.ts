import type { Model, Source } from '../../gateway/catalogue.ts';
import { chatPriceRaw } from '../../gateway/chat-usage.ts';
import { makerOf } from '../../gateway/destination.ts';
import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import { refuse } from '../../kernel/refuse.ts';
import type { Spender } from '../../ledger/ledger.ts';
import { MAIN_PURSE, Purses } from '../purses.ts';
import { openTurn } from '../realtime/hold-turn.ts';
import type { Legs } from '../realtime/legs.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import type { TurnCap } from '../realtime/turn-meter.ts';
import type { RealtimeInput } from '../realtime-session.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { openPurse, type PurseOwner } from '../voice-purse.ts';
import {
  type CascadeDeps,
  type Cascades,
  cascadeCap,
  createCascadeLegs,
  mostTokens,
} from './cascade-legs.ts';
import type { OwnKeys } from './own-keys.ts';
import { createPart } from './part.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';
import { createTranscriptionLegs } from './transcription-legs.ts';
import { fittingVoice } from './voices.ts';

/**
 * Holds what the first turn of a session of several models can cost, at the maker of each. Throws the refusal where a
 * model of it cannot be served here, or the money is not there; nothing stays held then.
 */
export async function openCascade(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  opening: Opening,
): Promise<RealtimeInput> {
  const { ownKeys } = opening;
  const config = fittingVoice(plan, opening.config);
  const thinking = { model: plan.llm, rails: deps.cascades.chat, ownKeys };
  const [{ offers }] = createPart({ ...thinking, purseOf: () => MAIN_PURSE }).stages((source) =>
    chatPriceRaw(mostTokens(plan), source),
  );
  const main = { model: plan.model.id, source: offers[0].source };
  const cap = cascadeCap(plan);
  return openLegs(deps, { ...opening, config, main, cap }, (money) =>
    createCascadeLegs({ ...deps, ...money, plan }),
  );
}

/** The same of a session that only transcribes, with any transcription model. */
export async function openTranscribing(
  deps: VoiceDeps & { readonly cascades: Cascades },
  stt: Model,
  opening: Opening,
): Promise<RealtimeInput> {
  const hearing = { model: stt, rails: deps.cascades.hearing, ownKeys: opening.ownKeys };
  const source =
    localEngineOf(stt) ??
    createPart({ ...hearing, purseOf: () => MAIN_PURSE }).stages(() => 0n)[0].offers[0].source;
  const main = { model: stt.id, source };
  return openLegs(deps, { ...opening, main, cap: NO_ANSWER }, (money) =>
    createTranscriptionLegs({ ...deps, ...money, stt }),
  );
}

/** A session that never answers uses nothing of a turn but what it hears. */
const NO_ANSWER: TurnCap = { inputTokens: 0, outputTokens: 0, spokenChars: 0, countsSound: false };

type Opening = {
  readonly spender: Spender;
  readonly ownKeys: OwnKeys;
  readonly config: SessionConfig;
};

/** Opens the purses of a session that buys by parts, and what it buys with them. */
async function openLegs(
  deps: VoiceDeps,
  {
    cap,
    config,
    main,
    ownKeys,
    spender,
  }: Opening & { readonly cap: TurnCap; readonly main: Pick<PurseOwner, 'model' | 'source'> },
  createLegs: (money: Pick<CascadeDeps, 'ownKeys' | 'purseOf' | 'purses' | 'spender'>) => Legs,
): Promise<RealtimeInput> {
  const owner: PurseOwner = {
    ...{ ...main, spender, kind: 'realtime', sessionId: newId(deps.random, 'sess_') },
  };
  const { ownerOf, purseOf } = createOwners(owner);
  const purses = new Purses((name, reserveRaw, isQuiet) =>
    openPurse(deps, ownerOf(name), reserveRaw, isQuiet),
  );
  const legs = createLegs({ ownKeys, purseOf, purses, spender });
  const problem = legs.problemOf(config);
  if (problem !== undefined) throw refuse.gateway.invalidRequest(problem.message, problem.param);
  const reservesOf = (tokens: number) => legs.reserves(config, tokens);
  const outputTokens = await openTurn(purses, reservesOf, cap.outputTokens);
  return { owner, purses, cap, outputTokens, legs, config };
}

/**
 * Whose the purses of a session are: one a maker, that of the model which it was opened with first, and another one for
 * the fees of what is bought of it with the caller's own keys.
 */
function createOwners(main: PurseOwner) {
  const owners = new Map([[MAIN_PURSE, main]]);
  const { sessionId } = main;
  const mainName = nameOf(main.model, main.source);
  return {
    purseOf({ id }: Model, source: Source): string {
      const name = nameOf(id, source);
      if (name === mainName) return MAIN_PURSE;
      if (!owners.has(name)) {
        const place = { sessionId: `${sessionId}.${name}`, partOf: sessionId };
        owners.set(name, { ...main, ...place, model: id, source });
      }
      return name;
    },
    ownerOf(name: string): PurseOwner {
      const owner = owners.get(name);
      assert(owner !== undefined, 'a purse is named before it is opened');
      return owner;
    },
  };
}

const nameOf = (modelId: string, { rail }: Source): string =>
  rail === 'byok' ? `${makerOf(modelId)}.own` : makerOf(modelId);
