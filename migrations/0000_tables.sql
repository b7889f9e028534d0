-- Everything that is kept: accounts and keys, agents and their money, postings, sessions, events.
CREATE TABLE "agents" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "agents_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"suspended_reason" text,
	"mode" text DEFAULT 'managed' NOT NULL,
	"funding_mode" text NOT NULL,
	"wallet_address" text,
	"borrow_limit_raw" bigint,
	"max_rate_bps" integer NOT NULL,
	"expiry_seconds" integer NOT NULL,
	"operator_expiry" bigint,
	"delegation_tx_hash" text,
	"provision_attempts" integer DEFAULT 0 NOT NULL,
	"provision_next_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp with time zone,
	CONSTRAINT "agents_wallet_address_unique" UNIQUE("wallet_address"),
	CONSTRAINT "agents_status" CHECK ("agents"."status" in ('pending_delegation', 'active', 'suspended', 'closed')),
	CONSTRAINT "agents_funding_mode" CHECK ("agents"."funding_mode" in ('wallet', 'credit_line'))
);
--> statement-breakpoint
CREATE TABLE "operator_permissions" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"operator" text NOT NULL,
	"borrow_limit_raw" bigint NOT NULL,
	"max_rate_bps" integer NOT NULL,
	"expiry" bigint NOT NULL,
	"on_behalf_of" text NOT NULL,
	"tx_hash" text NOT NULL,
	"approved" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "developers" (
	"account_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"display_name" text,
	"email" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "developers_wallet_unique" UNIQUE("wallet")
);
--> statement-breakpoint
CREATE TABLE "invalidations" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"agent_id" integer,
	"key_id" integer,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "agent_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"digest" text NOT NULL,
	"prefix" text NOT NULL,
	"label" text,
	"permissions" text NOT NULL,
	"rotated_from" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"agent_id" integer NOT NULL,
	CONSTRAINT "agent_keys_digest_unique" UNIQUE("digest"),
	CONSTRAINT "agent_keys_permissions" CHECK ("agent_keys"."permissions" in ('read', 'read_write'))
);
--> statement-breakpoint
CREATE TABLE "developer_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "developer_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"digest" text NOT NULL,
	"prefix" text NOT NULL,
	"label" text,
	"permissions" text NOT NULL,
	"rotated_from" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"account_id" text NOT NULL,
	"expires_at" timestamp with time zone,
	CONSTRAINT "developer_keys_digest_unique" UNIQUE("digest"),
	CONSTRAINT "developer_keys_permissions" CHECK ("developer_keys"."permissions" in ('read', 'read_write'))
);
--> statement-breakpoint
CREATE TABLE "agent_funds" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"rules_version" bigint DEFAULT 0 NOT NULL,
	"spendable_raw" bigint DEFAULT 0 NOT NULL,
	"held_raw" bigint DEFAULT 0 NOT NULL,
	"credited_raw" bigint DEFAULT 0 NOT NULL,
	"consumed_raw" bigint DEFAULT 0 NOT NULL,
	"counters" "bytea",
	CONSTRAINT "agent_funds_spendable" CHECK ("agent_funds"."spendable_raw" >= 0),
	CONSTRAINT "agent_funds_held" CHECK ("agent_funds"."held_raw" >= 0),
	CONSTRAINT "agent_funds_balanced" CHECK ("agent_funds"."credited_raw" = "agent_funds"."spendable_raw" + "agent_funds"."held_raw" + "agent_funds"."consumed_raw")
);
--> statement-breakpoint
CREATE TABLE "charges" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"posting_id" text NOT NULL,
	"key_id" integer,
	"target_url" text NOT NULL,
	"target_host" text NOT NULL,
	"method" text NOT NULL,
	"status" text NOT NULL,
	"cost_raw" bigint NOT NULL,
	"model" text,
	"rail" text,
	"usage" jsonb NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"session_id" text,
	"response_status_code" integer,
	"latency_ms" integer,
	"overhead_ms" integer,
	"upstream_ms" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "charges_status" CHECK ("charges"."status" in ('success', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"account_id" text NOT NULL,
	"agent_wallet" text,
	"correlation_id" text,
	"payload" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"amount_raw" bigint NOT NULL,
	"kind" text NOT NULL,
	"session_id" text,
	"node_id" text COLLATE "C" NOT NULL,
	"lease_epoch" integer NOT NULL,
	"counted" jsonb,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "holds_amount" CHECK ("holds"."amount_raw" >= 0)
);
--> statement-breakpoint
CREATE TABLE "postings" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"code" text NOT NULL,
	"asked_raw" bigint NOT NULL,
	"debits" text[] NOT NULL,
	"credits" text[] NOT NULL,
	"amounts" bigint[] NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "team_funds" (
	"account_id" text PRIMARY KEY NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"counters" "bytea"
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"node_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "session_journal" (
	"session_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"epoch" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	"usage" "bytea" NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "session_journal_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"kind" text NOT NULL,
	"target" text NOT NULL,
	"model" text NOT NULL,
	"account" text NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"node_id" text COLLATE "C" NOT NULL,
	"lease_epoch" integer NOT NULL,
	"epoch" integer DEFAULT 1 NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	"end_reason" text
);
--> statement-breakpoint
CREATE TABLE "managed_wallets" (
	"reference" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"sealed_key" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "managed_wallets_address_unique" UNIQUE("address")
);
--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operator_permissions" ADD CONSTRAINT "operator_permissions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "developer_keys" ADD CONSTRAINT "developer_keys_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agents_open_name" ON "agents" USING btree ("account_id","name") WHERE status <> 'closed';--> statement-breakpoint
CREATE INDEX "agents_account" ON "agents" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "agents_awaiting_provision" ON "agents" USING btree ("provision_next_at") WHERE status = 'pending_delegation';--> statement-breakpoint
CREATE INDEX "invalidations_at" ON "invalidations" USING btree ("at");--> statement-breakpoint
CREATE INDEX "agent_keys_active" ON "agent_keys" USING btree ("agent_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "developer_keys_active" ON "developer_keys" USING btree ("account_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "charges_agent" ON "charges" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "postings_agent" ON "postings" USING btree ("agent_id","at");--> statement-breakpoint
CREATE INDEX "sessions_open_node" ON "sessions" USING btree ("node_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "sessions_agent" ON "sessions" USING btree ("agent_id","opened_at");