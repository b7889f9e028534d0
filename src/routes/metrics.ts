import { ok, route } from '../http/route/route.ts';
import type { MetricsRegistry } from '../http/server/metrics.ts';

/** Reports metrics for Prometheus, behind a token of their own because they reveal the volume of business. */
export const metrics = route<{ metrics: Pick<MetricsRegistry, 'render' | 'contentType'> }>()({
  method: 'GET',
  path: '/metrics',
  credential: 'metrics',
  summary: 'Measurements in the Prometheus text form',

  async handle({ services }) {
    const text = await services.metrics.render();
    return ok(Buffer.from(text), { 'content-type': services.metrics.contentType });
  },
});
