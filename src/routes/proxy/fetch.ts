import { route } from '../../http/route/route.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { VendorProxy } from '../../payments/proxy/proxy.ts';
import { ProxyRequest } from '../../payments/proxy/proxy-request.ts';

/** Sends a request to any vendor, and pays from the agent's balance, once, when the vendor requires a payment. */
export const proxyFetch = route<{ proxy: VendorProxy }>()({
  method: 'POST',
  path: '/v1/proxy/fetch',
  credential: 'agent',
  summary: 'Send a request to a vendor and pay for it where it asks',
  rateLimit: 'proxy',
  idempotent: true,
  // The specification: the first answer to a key stays the answer, whatever its status.
  keepsRefusals: true,
  maxBodyBytes: PAYMENT_LIMITS.proxy.bodyBytes,
  body: ProxyRequest,

  handle({ body, caller, headers, onOver, services, signal, span, workId }) {
    const spender = readSpender(caller, headers);
    const call = { spender, request: body, workId, onOver, span };
    return services.proxy.send({ ...call, signal: abortSignalOf(signal) });
  },
});
