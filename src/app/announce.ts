import { DEFAULT_PORT } from '../config/environment.ts';
import { featuresOff } from '../config/features.ts';
import type { Log } from '../kernel/log.ts';
import type { LocalParts } from './local-secrets.ts';
import type { Server } from './server.ts';

/** Report of a started server: its address, its database, chain and wallets, and the features that are off. */
type Started = {
  readonly url: string;
  readonly environment: string;
  readonly database: string;
  readonly chain: string;
  readonly wallets: string;
  readonly madeHere: readonly string[];
  readonly off: readonly string[];
};

export function describeStart(
  { url, hasVendorModels }: Pick<Server, 'url' | 'hasVendorModels'>,
  { settings, local }: LocalParts,
): Started {
  const { database, managedWallet } = settings;
  const models = {
    feature: 'models of vendors',
    set: 'OPENAI_API_KEY, ANTHROPIC_API_KEY or another key',
  };
  const off = [...featuresOff(settings), ...(hasVendorModels ? [] : [models])];
  return {
    url,
    environment: settings.environment,
    database: database.kind === 'url' ? 'PostgreSQL' : `embedded PostgreSQL in ${database.path}`,
    chain: settings.chain.rpcUrl === undefined ? 'none: no chain traffic' : 'RPC',
    wallets: managedWallet.appId ?? 'none',
    madeHere: local,
    off: off.map(({ feature, set }) => `${feature}: set ${set}`),
  };
}

/**
 * Reports that the server listens: as one line of JSON in the log, or on a terminal as a table that ends with the next step.
 */
export function announce(
  log: Log,
  started: Started,
  terminal: NodeJS.WriteStream | undefined,
): void {
  if (terminal === undefined) log.info(started, 'listening');
  else log.flush(() => terminal.write(startTable(started)));
}

/** Returns the table that a terminal shows when the server has started. */
function startTable(started: Started): string {
  const { url, environment, database, chain, wallets, madeHere, off } = started;
  const made = madeHere.length === 0 ? [] : [['secrets', `${madeHere.length} made here and kept`]];
  // Without `--server` the command calls the default port.
  const place = url.endsWith(`:${DEFAULT_PORT}`) ? '' : ` --server ${url}`;
  const rows = [
    ['listening', `${url} (${environment})`],
    ['database', database],
    ['chain', chain],
    ['wallets', wallets],
    ...made,
    ...off.map((sentence, index) => [index === 0 ? 'off' : '', sentence]),
    ['', ''],
    ['next', `npm run agent -- --name x --usd 5${place}`],
    ['', 'It makes an agent with 5 USDC and prints its key. docs/tasks has more.'],
  ];
  const text = rows.map(([name = '', value]) => `  ${name.padEnd(10)} ${value}`.trimEnd());
  return `\n${text.join('\n')}\n\n`;
}
