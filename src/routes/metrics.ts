import { ok, route } from '../http/route/route.ts';
import type { MetricsRegistry } from '../http/server/metrics.ts';

/** Reports metrics for Prometheus, behind the admin key because they reveal the volume of business. */
export const metrics = route<{ metrics: Pick<MetricsRegistry, 'render' | 'contentType'> }>()({
  method: 'GET',
  path: '/metrics',
  credential: 'admin',
  summary: 'Measurements in the Prometheus text form',

  async handle({ services }) {
    const text = await services.metrics.render();
    return ok(Buffer.from(text), { 'content-type': services.metrics.contentType });
  },
});
