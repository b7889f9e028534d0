import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { x402Facilitator } from '@x402/core/facilitator';
import { type RoutesConfig, x402ResourceServer } from '@x402/core/server';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware as expressPayments } from '@x402/express';
import { paymentMiddleware as honoPayments } from '@x402/hono';
import express from 'express';
import { Hono } from 'hono';
import type { Address } from 'viem';
import { account, type Chain } from './chain.ts';
import { USDC, USDC_DOMAIN } from './eip3009.ts';
import {
  closed,
  gasClient,
  type Handled,
  listening,
  PRICE_RAW,
  sell,
  type Vendor,
  type VendorOptions,
} from './vendor.ts';

type V2Options = VendorOptions & {
  /** Settles before the handler runs: a handler that fails leaves the money gone. */
  readonly upfront?: boolean;
  /** The paths that are paid for. */
  readonly sells?: string;
};

const PAID = '/paid';

const NETWORK = 'eip155:8453';

/** Verifies and settles in this process; `gas` pays for what it settles. */
function facilitator(chain: Chain, gas: Address) {
  const client = gasClient(chain, gas);
  const signer = toFacilitatorEvmSigner({ ...client, address: gas } as never);
  const inner = registerExactEvmScheme(new x402Facilitator(), { signer, networks: NETWORK });
  return {
    verify: inner.verify.bind(inner),
    settle: inner.settle.bind(inner),
    getSupported: async () => inner.getSupported() as never,
  };
}

function offer(options: V2Options, payTo: Address): RoutesConfig {
  const { name, version } = USDC_DOMAIN;
  return {
    [options.sells ?? PAID]: {
      accepts: {
        scheme: 'exact',
        network: NETWORK,
        payTo,
        price: {
          amount: String(options.priceRaw ?? PRICE_RAW),
          asset: USDC,
          extra: { name, version },
        },
        maxTimeoutSeconds: options.maxTimeoutSeconds ?? 300,
        ...(options.upfront ? { extra: { paymentFlow: 'upfront' } } : {}),
      },
      description: 'paid thing',
      mimeType: 'application/json',
    },
  };
}

type Place = { readonly gas: Address; readonly payTo: Address };

async function started(
  options: V2Options,
  { gas, payTo }: Place,
  chain: Chain,
  serve: (routes: RoutesConfig, server: x402ResourceServer, handled: Handled[]) => Server,
): Promise<Vendor> {
  const handled: Handled[] = [];
  const paidTo = options.payTo ?? payTo;
  const resources = new x402ResourceServer(facilitator(chain, gas));
  resources.register(NETWORK, new ExactEvmScheme());
  const server = serve(offer(options, paidTo), resources, handled);
  return {
    url: `${await listening(server)}/paid`,
    payTo: paidTo,
    priceRaw: options.priceRaw ?? PRICE_RAW,
    handled,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** A vendor of version 2 on express. */
export function startExpressVendor(chain: Chain, options: V2Options = {}): Promise<Vendor> {
  const place = { gas: account(10).address, payTo: account(13).address };
  return started(options, place, chain, (routes, resources, handled) => {
    const app = express();
    app.use(expressPayments(routes, resources));
    app.use(express.raw({ type: () => true, limit: '20mb' }));
    app.all('/paid', async (request, response) => {
      const { method, originalUrl: url, headers } = request;
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
      const asked = { method, url, headers, body };
      response.status(await sell(handled, asked)).json(asked);
    });
    return createServer(app);
  });
}

/** A vendor of version 2 on hono. */
export function startHonoVendor(chain: Chain, options: V2Options = {}): Promise<Vendor> {
  const place = { gas: account(11).address, payTo: account(14).address };
  return started(options, place, chain, (routes, resources, handled) => {
    const app = new Hono();
    app.use(honoPayments(routes, resources));
    app.all('/paid', async (context) => {
      const { method, url } = context.req;
      const asked = { method, url, headers: context.req.header(), body: await context.req.text() };
      return context.json(asked, (await sell(handled, asked)) as 200);
    });
    return createServer(getRequestListener(app.fetch));
  });
}

/** Where a router sends a request on to, by its path and body. */
type Onward = (path: string, body: Buffer) => string;

/** A router on express: whatever is asked below `/v1` is paid for, and then asked of the upstream behind it. */
export async function startRouter(
  chain: Chain,
  options: VendorOptions & { readonly onward: Onward },
): Promise<Vendor & { readonly baseUrl: string }> {
  const place = { gas: account(11).address, payTo: account(14).address };
  const selling = { ...options, sells: '/v1/*' };
  const vendor = await started(selling, place, chain, (routes, resources, handled) => {
    const app = express();
    app.use(expressPayments(routes, resources));
    app.use(express.raw({ type: () => true, limit: '20mb' }));
    app.post('/v1/*path', async (request, response) => {
      const { method, originalUrl: url, headers, body } = request;
      handled.push({ method, url, headers, body: body.toString('latin1') });
      const path = url.slice('/v1'.length);
      const told = await fetch(`${options.onward(path, body)}${path}`, {
        method,
        body,
        headers: { 'content-type': String(headers['content-type']) },
      });
      response.status(told.status).type(told.headers.get('content-type') ?? 'text/plain');
      response.send(Buffer.from(await told.arrayBuffer()));
    });
    return createServer(app);
  });
  const { origin } = new URL(vendor.url);
  return { ...vendor, baseUrl: `${origin}/v1` };
}
