import { loadEnvFile } from 'node:process';
import { readConfig } from '../../config/config.ts';
import { formatUsdc } from '../../kernel/amount.ts';
import { nowSeconds, systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { completeSettings } from '../local-secrets.ts';
import { type Api, createApi } from './demo/api.ts';
import { fundAgent } from './demo/fund-agent.ts';
import { readOptions, runCommand } from './run-command.ts';

/** `npm run agent -- --name x --usd 5`: creates an agent with a balance and an agent key on a running server. */

const USAGE = `usage: npm run agent -- --name NAME --usd AMOUNT [--key svc_live_…] [--env FILE] [--server http://127.0.0.1:3001]
  --key     a developer key: the agent joins its account. Without it a new account is made
  --env     a file of variables, such as .env.production of npm run secrets
  --server  another server; it needs the ADMIN_API_KEY of that server`;

const OPTIONS = {
  name: { type: 'string' },
  usd: { type: 'string' },
  key: { type: 'string' },
  env: { type: 'string' },
  server: { type: 'string' },
  /** Former name of `--server`, which still works. */
  url: { type: 'string' },
} as const;

function readArguments() {
  const { env, key, name, server, url, usd } = readOptions(OPTIONS, USAGE);
  const place = server ?? url;
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(usd ?? '');
  const isUrl = place === undefined || URL.canParse(place);
  if (name === undefined || match === null || !isUrl) throw new Error(USAGE);
  const amountRaw = BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`);
  if (amountRaw === 0n) throw new Error(USAGE);
  return { name, amountRaw, developerKey: key, env, server: place?.replace(/\/+$/, '') };
}

/** Returns the ids of agents of other accounts with this name. Reads only the first page of all agents. */
async function namesakes(api: Api, name: string, adminApiKey: string): Promise<readonly number[]> {
  const { agents } = await api.call<{ agents: { agentId: number; name: string }[] }>(
    'GET',
    '/v1/admin/agents',
    { headers: { 'x-admin-key': adminApiKey } },
  );
  return agents.filter((agent) => agent.name === name).map(({ agentId }) => agentId);
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

async function makeAgent(): Promise<void> {
  const { name, amountRaw, developerKey, env, server } = readArguments();
  if (env !== undefined) loadEnvFile(env);
  const { settings } = completeSettings(readConfig(), systemRandom);
  const url = server ?? `${settings.tls ? 'https' : 'http'}://127.0.0.1:${settings.port}`;
  const api = createApi(url);
  const { adminApiKey } = settings;
  if (developerKey === undefined) {
    const [other] = await namesakes(api, name, adminApiKey);
    if (other !== undefined) {
      console.log(
        `agent ${other} of another account is called "${name}", too; --key svc_live_… adds an agent to an account`,
      );
    }
  }
  const agent = await fundAgent(api, {
    name,
    amountRaw,
    adminApiKey,
    developerKey,
    said: console.log,
    nowSeconds: nowSeconds(systemClock),
  });
  console.log(`balance ${formatUsdc(agent.spendableRaw)} USDC\nkey ${agent.agentKey}`);
  console.log(`developer key ${agent.developerKey}`);
  printUse(url, agent.agentKey);
}

await runCommand(async () => {
  await makeAgent().catch((error: NodeJS.ErrnoException) => {
    const refused = error.code === 'ECONNREFUSED';
    throw refused ? new Error('No server answers; start one with: npm start') : error;
  });
});
