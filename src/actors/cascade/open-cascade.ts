import type { Model, Source } from '../../gateway/catalogue.ts';
import { chatPriceRaw } from '../../gateway/chat-usage.ts';
import { makerOf } from '../../gateway/destination.ts';
import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import { refuse } from '../../kernel/refuse.ts';
import type { Spender } from '../../ledger/ledger.ts';
import { MAIN_PURSE, openPurses, Purses } from '../purses.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import type { RealtimeInput } from '../realtime-session.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { openPurse, type PurseOwner } from '../voice-purse.ts';
import { type Cascades, cascadeCap, createCascadeLegs, mostTokens } from './cascade-legs.ts';
import type { OwnKeys } from './own-keys.ts';
import { createPart } from './part.ts';
import type { CascadePlan } from './plan-cascade.ts';
import { fittingVoice } from './voices.ts';

/**
 * Holds what the first turn of a session of several models can cost, at the maker of each. Throws the refusal where a
 * model of it cannot be served here, or the money is not there; nothing stays held then.
 */
export async function openCascade(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  opening: {
    readonly spender: Spender;
    readonly ownKeys: OwnKeys;
    readonly config: SessionConfig;
  },
): Promise<RealtimeInput> {
  const { ownKeys, spender } = opening;
  const config = fittingVoice(plan, opening.config);
  const thinking = { model: plan.llm, rails: deps.cascades.chat, ownKeys };
  const [{ offers }] = createPart({ ...thinking, purseOf: () => MAIN_PURSE }).stages((source) =>
    chatPriceRaw(mostTokens(plan), source),
  );
  const owner: PurseOwner = {
    ...{ spender, kind: 'realtime', model: plan.model.id, source: offers[0].source },
    sessionId: newId(deps.random, 'sess_'),
  };
  const { ownerOf, purseOf } = createOwners(owner);
  const purses = new Purses((name, reserveRaw) => openPurse(deps, ownerOf(name), reserveRaw));
  const legs = createCascadeLegs({ ...deps, plan, spender, ownKeys, purses, purseOf });
  const problem = legs.problemOf(config);
  if (problem !== undefined) throw refuse.gateway.invalidRequest(problem.message, problem.param);
  await openPurses(purses, legs.reserves(config));
  return { owner, purses, legs, cap: cascadeCap(plan), config };
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
