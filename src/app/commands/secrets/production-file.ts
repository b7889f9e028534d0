import { type Random, randomHex } from '../../../kernel/random.ts';
import { NODE_OPTIONS } from '../../node-options.ts';

/**
 * Writes the environment file of a production server that can create agents. It has new secrets, and further settings as
 * comments.
 */
export const productionFile = (random: Random, databaseDirectory: string): string => {
  const secret = () => randomHex(random, 32);
  return `# The environment of a production server: node --env-file=FILE dist/src/main.js
# docs/configuration.md has every variable.
NODE_ENV=production
# A young generation of up to 64 MB saves a sixth of the CPU of a busy server. Take it out where memory is short.
NODE_OPTIONS=${NODE_OPTIONS.join(' ')}

# A directory holds an embedded PostgreSQL. postgres://user:password@host/database names a server in its place.
DATABASE_URL=${databaseDirectory}

# Keep these. Other secrets void every key that was issued and lock every wallet.
JWT_SECRET=${secret()}
API_KEY_HMAC_SECRET=${secret()}
ADMIN_API_KEY=${secret()}
PROVIDER_KEY_SECRET=${secret()}

# Wallets of agents are kept by this server. Another app id is one at a wallet provider.
MANAGED_WALLET_APP_ID=local
MANAGED_WALLET_APP_SECRET=${secret()}
MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY=${secret()}
# Signs for the wallets and pays gas: with RPC_URL, its address needs some ether.
FACILITATOR_PRIVATE_KEY=0x${secret()}

# Where clients and carriers reach this server, such as https://voice.example.
PUBLIC_URL=
# The certificate, where the server speaks https itself.
TLS_CERT_FILE=
TLS_KEY_FILE=
# The network of the proxy in front of it, such as 10.0.0.0/8.
TRUSTED_PROXIES=

# Deposits and payments in USDC.
RPC_URL=

# Models of vendors. docs/configuration.md has more.
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
DEEPGRAM_API_KEY=

# Phone: the credentials of one carrier, and PUBLIC_URL.
TWILIO_ACCOUNT_SID=
TWILIO_AUTH_TOKEN=
TELNYX_API_KEY=
TELNYX_PUBLIC_KEY=
TELNYX_CONNECTION_ID=
`;
};
