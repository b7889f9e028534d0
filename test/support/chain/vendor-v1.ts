import { createServer } from 'node:http';
import express from 'express';
import type { Address } from 'viem';
import { settle, verify } from 'x402/facilitator';
import type { PaymentPayload, PaymentRequirements } from 'x402/types';
import { paymentMiddleware } from 'x402-express';
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

type Asked = {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
};

/** Version 1 knows its facilitator by URL only, so that one listens of its own. */
function facilitator(chain: Chain, gas: Address) {
  const client = gasClient(chain, gas) as unknown as Parameters<typeof settle>[0];
  const app = express();
  app.use(express.json());
  app.post('/verify', async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body as Asked;
    response.json(await verify(client, paymentPayload, paymentRequirements));
  });
  app.post('/settle', async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body as Asked;
    response.json(await settle(client, paymentPayload, paymentRequirements));
  });
  return createServer(app);
}

/** A vendor of version 1 on express, whose challenge is the JSON body of the 402. */
export async function startV1Vendor(chain: Chain, options: VendorOptions = {}): Promise<Vendor> {
  const { priceRaw = PRICE_RAW, payTo = account(15).address, maxTimeoutSeconds = 60 } = options;
  const handled: Handled[] = [];
  const facilitating = facilitator(chain, account(12).address);
  const url = (await listening(facilitating)) as `http://${string}`;
  const { name, version } = USDC_DOMAIN;
  const price = {
    amount: String(priceRaw),
    asset: { address: USDC, decimals: 6, eip712: { name, version } },
  };
  const config = { description: 'paid thing', mimeType: 'application/json', maxTimeoutSeconds };
  const app = express();
  app.use(paymentMiddleware(payTo, { '/paid': { price, network: 'base', config } }, { url }));
  app.use(express.raw({ type: () => true, limit: '20mb' }));
  app.all('/paid', async (request, response) => {
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
    const { method, originalUrl, headers } = request;
    const asked = { method, url: originalUrl, headers, body };
    response.status(await sell(handled, asked)).json(asked);
  });
  const server = createServer(app);
  return {
    url: `${await listening(server)}/paid`,
    payTo,
    priceRaw,
    handled,
    async [Symbol.asyncDispose]() {
      await closed(server);
      await closed(facilitating);
    },
  };
}
