import { z } from 'zod';
import { route } from '../http/route/route.ts';
import { abortSignalOf } from '../kernel/stop-signal.ts';
import type { DirectSales } from '../marketplace/direct-sales.ts';
import { marketplaceErrors } from '../marketplace/errors.ts';
import { MARKETPLACE_LIMITS } from '../marketplace/limits.ts';
import { SERVICES, type ServiceName } from '../marketplace/requests.ts';
import { readSpender } from '../models/purchase/read-spender.ts';

const Params = z.object({ vendor: z.string().min(1).max(MARKETPLACE_LIMITS.request.nameChars) });

/** Creates the route of one marketplace service, for all its vendors. */
export const sellService = <S extends ServiceName>(service: S, summary: string) =>
  route<{ directSales: DirectSales }>()({
    method: 'POST',
    path: `/v1/${service}/:vendor`,
    credential: 'agent',
    summary,
    rateLimit: 'proxy',
    idempotent: true,
    keepsRefusals: true,
    maxBodyBytes: MARKETPLACE_LIMITS.request.bodyBytes,
    params: Params,
    body: SERVICES[service],
    badJson: marketplaceErrors.invalidJson,

    handle({ body, caller, headers, onOver, params, services, signal, span, workId }) {
      const spender = readSpender(caller, headers);
      const call = { service, vendor: params.vendor, body, spender, workId, onOver, span };
      return services.directSales.sell({ ...call, signal: abortSignalOf(signal) });
    },
  });
