import { ok, route } from '../../../../http/route/route.ts';
import type { CallRecords } from '../../../../phone/records/call-records.ts';
import { CallParams } from '../../../calls/call-shape.ts';
import { CallReportAnswer } from '../../../calls/report-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Returns the report of a call of the developer's agent. */
export const agentCallReport = route<{ callRecords: CallRecords }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/calls/:callId/report',
  credential: 'management',
  summary: "The report of an agent's call",
  params: AgentParams.extend(CallParams.shape),
  response: CallReportAnswer,

  async handle({ caller, params, services }) {
    const owner = { agentId: params.agentId, accountId: caller.accountId };
    return ok(await services.callRecords.report(owner, params.callId));
  },
});
