import { ok, route } from '../../http/route/route.ts';
import type { CallRecords } from '../../phone/records/call-records.ts';
import { CallParams } from './call-shape.ts';
import { CallReportAnswer } from './report-shape.ts';

/** Returns the report of a finished call that was placed with `report`. */
export const callReport = route<{ callRecords: CallRecords }>()({
  method: 'GET',
  path: '/v1/calls/:callId/report',
  credential: 'agent',
  summary: 'The report of a call',
  params: CallParams,
  response: CallReportAnswer,

  async handle({ caller, params, services }) {
    return ok(await services.callRecords.report({ agentId: caller.agentId }, params.callId));
  },
});
