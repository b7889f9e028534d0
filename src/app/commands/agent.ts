import { readConfig } from '../../config/config.ts';
import { formatUsdc } from '../../kernel/amount.ts';
import { nowSeconds, systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { completeSettings } from '../local-secrets.ts';
import { createApi } from './demo/api.ts';
import { fundAgent } from './demo/fund-agent.ts';
import { readOptions } from './run-command.ts';

/** `npm run agent -- --name x --usd 5`: a funded agent key on a running development server. */

const USAGE = 'usage: npm run agent -- --name NAME --usd AMOUNT [--url http://127.0.0.1:3001]';

const OPTIONS = {
  name: { type: 'string' },
  usd: { type: 'string' },
  url: { type: 'string' },
} as const;

function readArguments() {
  const values = readOptions(OPTIONS, USAGE);
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(values.usd ?? '');
  const isUrl = values.url === undefined || URL.canParse(values.url);
  if (values.name === undefined || match === null || !isUrl) throw new Error(USAGE);
  const amountRaw = BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`);
  if (amountRaw === 0n) throw new Error(USAGE);
  return { name: values.name, amountRaw, url: values.url?.replace(/\/+$/, '') };
}

function printUse(url: string, key: string): void {
  const body =
    '{"model":"local/guide","messages":[{"role":"user","content":"What is my balance?"}]}';
  console.log(
    `\ncurl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
  );
  console.log(`new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' })`);
  console.log(
    `new WebSocket('${url.replace(/^http/, 'ws')}/v1/realtime?model=local/realtime', ['realtime', 'openai-insecure-api-key.${key}'])`,
  );
}

try {
  const { name, amountRaw, url: asked } = readArguments();
  const config = readConfig();
  const { settings } = completeSettings(config, systemRandom);
  const url = asked ?? `${settings.tls ? 'https' : 'http'}://127.0.0.1:${settings.port}`;
  const agent = await fundAgent(createApi(url), {
    name,
    amountRaw,
    adminApiKey: settings.adminApiKey,
    said: console.log,
    nowSeconds: nowSeconds(systemClock),
  });
  console.log(`balance ${formatUsdc(agent.spendableRaw)} USDC\nkey ${agent.agentKey}`);
  console.log(`developer key ${agent.developerKey}`);
  printUse(url, agent.agentKey);
} catch (error) {
  const refused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  console.error(
    refused ? 'No server answers; start one with: npm start' : (error as Error).message,
  );
  process.exitCode = 1;
}
