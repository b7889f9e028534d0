import { type HttpAnswer, isStream } from '../http/route/answer.ts';
import type { AgentCaller, DeveloperCaller } from '../http/route/caller.ts';
import { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Random } from '../kernel/random.ts';
import type { LeaseKeeper } from '../ledger/engine/renew-lease.ts';
import { createRetryingRead } from '../ledger/engine/retry.ts';
import { reservationErrors } from '../x402/errors.ts';
import { idempotencyErrors } from './errors.ts';
import type {
  FreshWork,
  IdempotencyStore,
  IdempotencyVerdict,
  KeyedRequest,
} from './idempotency.ts';
import type { IdempotencyKeys, KeyClaim, StandingKey, WorkFate } from './idempotency-store.ts';
import type { OutcomeKeeper } from './keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from './limits.ts';
import { recordStream } from './record-stream.ts';
import { decodeReplay, encodeAnswer } from './stored-answer.ts';

export type AnswerKeeperDeps = {
  readonly keys: IdempotencyKeys;
  readonly outcomes: OutcomeKeeper;
  readonly lease: Pick<LeaseKeeper, 'mayReap' | 'tick'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called after an answer was stored and before it is sent; the promise is awaited. */
  readonly onKept?: () => Promise<void> | undefined;
};

/**
 * Keeps answers in the database, for all processes on it. The work under a key runs once: work of a dead process is run again
 * only when the ledger shows that it was not charged and can no longer be charged.
 */
export function createAnswerKeeper(deps: AnswerKeeperDeps): IdempotencyStore {
  const { keys, lease, random } = deps;
  const retrying = createRetryingRead(deps.clock);

  /** Takes the key or decides by the request that has it. Undefined when other requests took or freed the key meanwhile. */
  async function look(
    request: KeyedRequest,
    claim: KeyClaim,
  ): Promise<IdempotencyVerdict | undefined> {
    const verdict = await retrying(() => keys.take(claim));
    switch (verdict.kind) {
      case 'taken':
        return freshWork(deps, claim);
      case 'raced':
        return undefined;
      case 'lease_lost':
        await lease.tick();
        return undefined;
      case 'standing':
        return answerFor(request, claim, verdict.standing);
    }
  }

  async function answerFor(
    request: KeyedRequest,
    claim: KeyClaim,
    standing: StandingKey,
  ): Promise<IdempotencyVerdict | undefined> {
    const { key, method, path } = request;
    if (standing.method !== method || standing.path !== path) {
      throw idempotencyErrors.keyReused(key, `${standing.method} ${standing.path}`);
    }
    if (standing.state === 'done') {
      if (standing.answer === null) throw idempotencyErrors.notReplayable(key);
      return { kind: 'replay', answer: decodeReplay(standing.answer) };
    }
    if (standing.ownerLives || !lease.mayReap()) throw idempotencyErrors.inFlight(key);
    const fate = await retrying(() => fateOf(keys, request, standing));
    if (fate.kind === 'undecided') throw idempotencyErrors.inFlight(key);
    // The answer is read after its fate: decided work leaves nothing new.
    const answer = standing.isOver ? undefined : await lostAnswer(request, standing.workId, fate);
    if (answer === undefined) {
      const isOurs = await retrying(() => keys.takeOver(claim, standing.workId));
      return isOurs ? freshWork(deps, claim) : undefined;
    }
    // The answer is kept as long as the original would have been; the next look finds it.
    const lost = { ...claim, workId: standing.workId };
    await retrying(() => keys.finish(lost, answer, 0));
    return undefined;
  }

  return {
    async begin(request) {
      const { caller, key, method, path, workId = newId(random, 'work_') } = request;
      const claim = { owner: ownerOf(caller), key, method, path, workId };
      try {
        for (let looks = 0; looks < IDEMPOTENCY_LIMITS.looks; looks++) {
          const verdict = await look(request, claim);
          if (verdict !== undefined) return verdict;
        }
      } catch (error) {
        if (!(error instanceof ApiError)) deps.outcomes.doubt(claim);
        throw error;
      }
      throw idempotencyErrors.inFlight(key);
    },
  };
}

/** Returns the ledger's outcome of a lost process's work, after it has forbidden an agent's work to hold more money. */
async function fateOf(
  keys: IdempotencyKeys,
  { caller }: KeyedRequest,
  standing: StandingKey,
): Promise<WorkFate> {
  if (caller.kind === 'agent') await keys.forbid(standing.workId, caller.agentId);
  // A developer's work has no hold, so the ledger does not show if it was done.
  else if (!standing.isOver) return { kind: 'undecided' };
  return keys.fateOf(standing.workId);
}

/**
 * Returns the answer to decided work of a lost process. Undefined when the process left no answer and the work was not paid
 * for, so that the work is done anew.
 */
async function lostAnswer(
  request: KeyedRequest,
  workId: string,
  fate: Exclude<WorkFate, { kind: 'undecided' }>,
): Promise<Uint8Array | null | undefined> {
  const left = await request.recall?.(workId);
  if (left !== undefined) {
    return encodeAnswer(left, left.body as string, IDEMPOTENCY_LIMITS.answerBytes);
  }
  return fate.kind === 'unpaid' ? undefined : encodeLost(request, workId, fate);
}

/** Returns the answer to work that was paid for by a process that died before it stored the real answer. */
function encodeLost(
  request: KeyedRequest,
  workId: string,
  { chargedRaw, reservation }: Extract<WorkFate, { kind: 'charged' }>,
): Uint8Array | null {
  const refusal =
    reservation === null
      ? idempotencyErrors.paidButLost({ hold: workId, chargedRaw: chargedRaw.toString() })
      : reservationErrors.ambiguous(
          'The vendor was paid, but the server was lost before its answer was kept. It is not sent again.',
          reservation,
        );
  const answer = request.render(refusal);
  return encodeAnswer(answer, answer.body as string, IDEMPOTENCY_LIMITS.answerBytes);
}

const ownerOf = (caller: AgentCaller | DeveloperCaller): string =>
  caller.kind === 'agent' ? `agent:${caller.agentId}` : `account:${caller.accountId}`;

function freshWork({ outcomes, onKept }: AnswerKeeperDeps, work: KeyClaim): FreshWork {
  const most = IDEMPOTENCY_LIMITS.answerBytes;
  const done = async (answer: HttpAnswer, body: string | Uint8Array | null): Promise<void> => {
    const kept = body === null ? null : encodeAnswer(answer, body, most);
    await outcomes.write({ kind: 'done', work, answer: kept });
    await onKept?.();
  };
  return {
    kind: 'fresh',
    workId: work.workId,
    async store(answer) {
      const { body } = answer;
      if (isStream(body)) {
        return { ...answer, body: recordStream(body, most, (whole) => done(answer, whole)) };
      }
      await done(answer, body);
      return answer;
    },
    abandon: () => outcomes.write({ kind: 'undone', work }),
  };
}
