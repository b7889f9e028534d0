import { z } from 'zod';
import { route } from '../../http/route/route.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import type { DirectSales } from '../../marketplace/direct-sales.ts';
import { MARKETPLACE_LIMITS } from '../../marketplace/limits.ts';

const name = () => z.string().min(1).max(MARKETPLACE_LIMITS.request.nameChars);
const Params = z.object({ vendor: name(), jobId: name() });

/** Reads the state and the result of a document job of the agent. A closed agent may still look. */
export const readDocumentJob = route<{ directSales: Pick<DirectSales, 'readDocument'> }>()({
  method: 'GET',
  path: '/v1/doc/:vendor/:jobId',
  credential: 'agent',
  summary: 'How a job that turns a document into text stands',
  admitsClosed: true,
  rateLimit: 'proxy',
  params: Params,

  handle({ caller, onOver, params, services, signal }) {
    const { accountId, agentId } = caller;
    const reading = { ...params, accountId, agentId, onOver };
    return services.directSales.readDocument({ ...reading, signal: abortSignalOf(signal) });
  },
});
