-- Payments to vendors and out of agent wallets, what wallets hold by the book, and how far the chain was read.

CREATE SEQUENCE "public"."proxy_call_ids" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "chain_cursors" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"claimed_by" text,
	"claimed_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "payouts" (
	"nonce" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"kind" text NOT NULL,
	"wallet" text COLLATE "C" NOT NULL,
	"payee" text NOT NULL,
	"amount_raw" bigint NOT NULL,
	"state" text DEFAULT 'planned' NOT NULL,
	"valid_before" bigint,
	"tx_hash" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"done_at" timestamp with time zone,
	CONSTRAINT "payouts_state" CHECK ("payouts"."state" in ('planned', 'submitted', 'done')),
	CONSTRAINT "payouts_kind" CHECK ("payouts"."kind" in ('close', 'sweep'))
);
--> statement-breakpoint
CREATE TABLE "proxy_passthroughs" (
	"id" bigint PRIMARY KEY DEFAULT nextval('proxy_call_ids') NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"target_url" text NOT NULL,
	"method" text NOT NULL,
	"response_status_code" integer NOT NULL,
	"latency_ms" integer NOT NULL,
	"task_id" text,
	"action_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reservations" (
	"nonce" text COLLATE "C" PRIMARY KEY NOT NULL,
	"id" bigint DEFAULT nextval('proxy_call_ids') NOT NULL,
	"hold_id" text COLLATE "C" NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"wallet" text COLLATE "C" NOT NULL,
	"payee" text NOT NULL,
	"value_raw" bigint NOT NULL,
	"valid_before" bigint NOT NULL,
	"signature" text NOT NULL,
	"x402_version" smallint NOT NULL,
	"network" text NOT NULL,
	"target_url" text NOT NULL,
	"target_host" text NOT NULL,
	"method" text NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"state" text DEFAULT 'reserved' NOT NULL,
	"refused" boolean DEFAULT false NOT NULL,
	"tx_hash" text,
	"response_status_code" integer,
	"latency_ms" integer,
	"reserved_at" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	"decided_at" timestamp with time zone,
	"corrected_at" timestamp with time zone,
	CONSTRAINT "reservations_hold_id_unique" UNIQUE("hold_id"),
	CONSTRAINT "reservations_state" CHECK ("reservations"."state" in ('reserved', 'sent', 'pending_settlement', 'settled', 'expired_unsettled', 'payment_rejected', 'released'))
);
--> statement-breakpoint
CREATE TABLE "remote_wallets" (
	"reference" text PRIMARY KEY NOT NULL,
	"wallet_id" text NOT NULL,
	"address" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "remote_wallets_wallet_id_unique" UNIQUE("wallet_id"),
	CONSTRAINT "remote_wallets_address_unique" UNIQUE("address")
);
--> statement-breakpoint
ALTER TABLE "agent_funds" ADD COLUMN "wallet_raw" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_funds" ADD COLUMN "promised_raw" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "events_first_settlement" ON "events" USING btree ("agent_wallet") WHERE name = 'x402.first_settlement';--> statement-breakpoint
CREATE INDEX "payouts_open" ON "payouts" USING btree ("next_at") WHERE state <> 'done';--> statement-breakpoint
CREATE INDEX "payouts_agent" ON "payouts" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "proxy_passthroughs_agent" ON "proxy_passthroughs" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "reservations_live" ON "reservations" USING btree ("valid_before") WHERE state in ('reserved', 'sent', 'pending_settlement');--> statement-breakpoint
CREATE INDEX "reservations_watched" ON "reservations" USING btree ("decided_at") WHERE decided_at is not null and state <> 'settled' and corrected_at is null;--> statement-breakpoint
CREATE INDEX "reservations_decided" ON "reservations" USING btree ("decided_at") WHERE decided_at is not null;--> statement-breakpoint
CREATE INDEX "reservations_agent" ON "reservations" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "reservations_waiting" ON "reservations" USING btree ("agent_id") WHERE state = 'pending_settlement';--> statement-breakpoint
ALTER TABLE "agent_funds" ADD CONSTRAINT "agent_funds_promised" CHECK ("agent_funds"."promised_raw" >= 0);