import { z } from 'zod';
import { route } from '../../http/route/route.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import type { DirectSales } from '../../marketplace/direct-sales.ts';
import { DocumentBody } from '../../marketplace/documents/document-request.ts';
import { marketplaceErrors } from '../../marketplace/errors.ts';
import { MARKETPLACE_LIMITS } from '../../marketplace/limits.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';

const Params = z.object({ vendor: z.string().min(1).max(MARKETPLACE_LIMITS.request.nameChars) });

/** Starts a job that extracts the text of a document. It is charged at its end, by the number of pages delivered. */
export const createDocumentJob = route<{ directSales: Pick<DirectSales, 'sellDocument'> }>()({
  method: 'POST',
  path: '/v1/doc/:vendor',
  credential: 'agent',
  summary: 'Have a vendor turn a document into text, in a job',
  status: 202,
  rateLimit: 'proxy',
  idempotent: true,
  keepsRefusals: true,
  maxBodyBytes: MARKETPLACE_LIMITS.documents.bodyBytes,
  params: Params,
  body: DocumentBody,
  badJson: marketplaceErrors.invalidJson,

  handle({ body, caller, headers, onOver, params, services, signal, workId }) {
    const spender = readSpender(caller, headers);
    const call = { vendor: params.vendor, body, spender, workId, onOver };
    return services.directSales.sellDocument({ ...call, signal: abortSignalOf(signal) });
  },
});
