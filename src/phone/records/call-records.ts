import { requireAgent } from '../../accounts/agents/require-agent.ts';
import type { Call } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { findCall } from '../calls/call-store.ts';
import { phoneErrors } from '../errors.ts';
import { readRecording } from '../recordings/read-recording.ts';
import { type CallReport, readReport } from './read-report.ts';

/** The owner of a call. An `accountId` requires that the agent belongs to the account. */
export type CallOwner = { readonly agentId: number; readonly accountId?: string };

/** Reports and recordings of calls. Throws `not_found` for a call that the owner does not have. */
export interface CallRecords {
  report(owner: CallOwner, callId: string): Promise<CallReport>;
  /** Returns the recording of a call: a WAV file with one channel for each side. */
  recording(owner: CallOwner, callId: string): Promise<AsyncIterable<Uint8Array>>;
}

export function createCallRecords(
  deps: Pick<CallDeps, 'carrier' | 'sql'> | undefined,
): CallRecords {
  if (deps === undefined) {
    const unavailable = async () => {
      throw phoneErrors.telephonyUnavailable();
    };
    return { report: unavailable, recording: unavailable };
  }
  const { sql } = deps;
  async function requireCall({ accountId, agentId }: CallOwner, callId: string): Promise<Call> {
    if (accountId !== undefined) await requireAgent(sql, { accountId, agentId });
    const call = await findCall(sql, callId);
    if (call?.agentId !== agentId) throw phoneErrors.callNotFound();
    return call;
  }
  return {
    report: async (owner, callId) => readReport(sql, await requireCall(owner, callId)),
    recording: async (owner, callId) => readRecording(deps, await requireCall(owner, callId)),
  };
}
