import { ok, route } from '../../http/route/route.ts';
import type { Exports } from '../../reports/export/exports.ts';

/** Streams everything that is kept of the account, one JSON object a line. The last line has the type `end`. */
export const exportEverything = route<{ exports: Exports }>()({
  method: 'GET',
  path: '/v1/developer/export.ndjson',
  credential: 'management',
  summary: 'Everything that is kept of the account, as NDJSON',

  handle({ caller, onOver, services }) {
    return ok(services.exports.everything(caller.accountId, onOver), {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="export.ndjson"',
    });
  },
});
