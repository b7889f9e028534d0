import { isUtf8 } from 'node:buffer';
import { ApiError } from '../kernel/api-error.ts';
import { within } from '../kernel/clock.ts';
import { JSON_LIMITS } from '../kernel/json/limits.ts';
import { JsonTooComplex } from '../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { Ledger } from '../ledger/rules/ledger.ts';
import { insertEvents } from '../ledger/store/agent-funds.ts';
import { answerWithin } from '../platform/postgres/transient.ts';
import type { SpendStateReader } from '../spend/limits/spend-state.ts';
import { type Answer, answerOf, type Refusal, refusalOfCall } from './admission.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { callRefused, type RefusedCall } from './call-events.ts';
import type { InboundConnection } from './connection.ts';
import { noteEvent } from './connection-store.ts';
import { orchestratorErrors } from './errors.ts';
import { LOOK_UPS, ORCHESTRATOR_LIMITS } from './limits.ts';
import { isProvider } from './platform.ts';
import { readQuestion } from './read-question.ts';
import { readReport } from './read-report.ts';
import { takeReport } from './take-report.ts';
import {
  createVerifyRequest,
  type PlatformRequest,
  type VerifiedRequest,
  type VerifyDeps,
} from './verify-request.ts';

export type PlatformHooks = ReturnType<typeof createPlatformHooks>;

type Deps = VerifyDeps & {
  readonly ledger: Pick<Ledger, 'report' | 'enforce'>;
  readonly spendState: Pick<SpendStateReader, 'read' | 'readMany'>;
};

const IGNORED: Answer = { status: 200, body: { ok: true, ignored: true } };

/** Creates the receivers of what voice platforms send: reports of calls that have ended, and questions before a call. */
export function createPlatformHooks(deps: Deps) {
  const { clock, log, sql } = deps;
  const inTime = <T>(found: Promise<T>): Promise<T> =>
    answerWithin(clock, ORCHESTRATOR_LIMITS.inbound.lookUpMs, found);
  const verify = createVerifyRequest(deps, inTime);
  const reasonOf = createReasonOf(deps, inTime);

  /** Writes the event of a refused call. The deny stands without it. */
  async function writeRefusal(
    connection: InboundConnection,
    call: RefusedCall,
    reason: Refusal,
  ): Promise<void> {
    try {
      const told = insertEvents(sql, [callRefused(connection, call, reason)]);
      await within(clock, ORCHESTRATOR_LIMITS.inbound.tellMs, told, () => undefined);
    } catch (error) {
      log.warn({ err: error, connectionId: connection.id }, 'a refused call was not reported');
    }
  }

  return {
    /** Takes the report of a call that has ended. */
    async callEnd(request: PlatformRequest): Promise<Answer> {
      const { bytes, connection } = await verify(request, true);
      const report = readReport(connection.provider, await parseObject(bytes));
      if (report === undefined) return IGNORED;
      const duplicate = await takeReport({ ...deps, inTime }, connection, report);
      await inTime(noteEvent(sql, connection.id)).catch((error: unknown) =>
        log.warn({ err: error, connectionId: connection.id }, 'the last event was not noted'),
      );
      return { status: 200, body: { ok: true, duplicate } };
    },

    /** Answers whether a call may begin. Denies it whenever that cannot be judged: some platforms connect a call after any error. */
    async preCall(request: PlatformRequest, assistantId: string | undefined): Promise<Answer> {
      const { provider } = request;
      let verified: VerifiedRequest;
      let call: RefusedCall | undefined;
      try {
        // Bland signs no question: the token alone names the connection.
        verified = await verify(request, provider !== 'bland');
        call = readQuestion(verified.connection.provider, await parseObject(verified.bytes));
      } catch (error) {
        if (!isUnjudged(error) || !isProvider(provider)) throw error;
        return answerOf(provider, 'admission_unavailable', assistantId);
      }
      if (call === undefined) return IGNORED;
      const { connection } = verified;
      const reason = await reasonOf(connection);
      if (reason !== undefined && reason !== 'admission_unavailable') {
        await writeRefusal(connection, call, reason);
      }
      return answerOf(connection.provider, reason, assistantId);
    },
  };
}

/** Creates the reading of the reason to refuse a call, from what is committed. */
function createReasonOf({ log, spendState }: Deps, inTime: <T>(found: Promise<T>) => Promise<T>) {
  const find = createBatchedLookup(async (ids) => {
    const states = await inTime(spendState.readMany(ids.map(Number)));
    return new Map([...states].map(([id, state]) => [String(id), state]));
  }, LOOK_UPS);

  return async (connection: InboundConnection): Promise<Refusal | undefined> => {
    try {
      return refusalOfCall(connection, await find(String(connection.agentId)));
    } catch (error) {
      log.warn({ err: error, connectionId: connection.id }, 'a call could not be admitted');
      return 'admission_unavailable';
    }
  };
}

/** Returns true for a question that cannot be judged. Only its sender's proof and its URL are refused as such. */
const isUnjudged = (error: unknown): boolean =>
  !(error instanceof ApiError && [401, 404].includes(error.status));

const TOO_COMPLEX = `The body has more than ${JSON_LIMITS.upstream.members} members; send a shorter report.`;

/** Parses a body whose sender is verified. Throws the refusal when it is no JSON object. */
async function parseObject(bytes: Buffer): Promise<Json> {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = isUtf8(bytes) ? await parseJsonInTurns(bytes, JSON_LIMITS.upstream) : undefined;
  } catch (error) {
    if (error instanceof JsonTooComplex) throw orchestratorErrors.invalidReport(TOO_COMPLEX);
  }
  if (isObject(value) && !Array.isArray(value)) return value;
  throw orchestratorErrors.invalidReport('The body must be a JSON object.');
}
