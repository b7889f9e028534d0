CREATE TABLE "cash_outs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "cash_outs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"ref" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"source_kind" text NOT NULL,
	"agent_id" integer,
	"state" text NOT NULL,
	"owner_address" text COLLATE "C" NOT NULL,
	"agent_wallet" text COLLATE "C",
	"requested_raw" bigint NOT NULL,
	"final_raw" bigint,
	"fiat_estimate" text,
	"deposit_address" text COLLATE "C",
	"sale_id" text,
	"transfer_id" text COLLATE "C",
	"send_tx_hash" text COLLATE "C",
	"failure_reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deadline_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cash_outs_ref_unique" UNIQUE("ref"),
	CONSTRAINT "cash_outs_state" CHECK ("cash_outs"."state" in ('created', 'leg1_pending', 'awaiting_form', 'awaiting_send', 'sent', 'processing', 'completed', 'failed', 'expired', 'cancelled')),
	CONSTRAINT "cash_outs_source" CHECK ("cash_outs"."source_kind" in ('agent_wallet', 'embedded_wallet'))
);
--> statement-breakpoint
CREATE TABLE "onramp_sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"agent_id" integer,
	"destination" text COLLATE "C" NOT NULL,
	"fiat_amount" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "transfers" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"direction" text NOT NULL,
	"agent_id" integer NOT NULL,
	"counterparty_agent_id" integer,
	"from_address" text COLLATE "C" NOT NULL,
	"to_address" text COLLATE "C" NOT NULL,
	"amount_raw" bigint NOT NULL,
	"nonce" text COLLATE "C",
	"state" text DEFAULT 'prepared' NOT NULL,
	"tx_hash" text COLLATE "C",
	"failure_reason" text,
	"onramp_id" text COLLATE "C",
	"expires_at" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "transfers_direction" CHECK ("transfers"."direction" in ('from_agent', 'agent_to_agent', 'to_agent', 'embedded_to_external')),
	CONSTRAINT "transfers_state" CHECK ("transfers"."state" in ('prepared', 'submitted', 'completed', 'failed', 'expired'))
);
--> statement-breakpoint
ALTER TABLE "payouts" DROP CONSTRAINT "payouts_kind";--> statement-breakpoint
CREATE INDEX "cash_outs_account" ON "cash_outs" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "cash_outs_open" ON "cash_outs" USING btree ("next_at") WHERE state not in ('completed', 'failed', 'expired', 'cancelled');--> statement-breakpoint
CREATE INDEX "onramp_sessions_account" ON "onramp_sessions" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE INDEX "transfers_account" ON "transfers" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_nonce" ON "transfers" USING btree ("nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_tx" ON "transfers" USING btree ("tx_hash");--> statement-breakpoint
CREATE INDEX "transfers_open" ON "transfers" USING btree ("account_id") WHERE state in ('prepared', 'submitted');--> statement-breakpoint
CREATE INDEX "transfers_watched" ON "transfers" USING btree ("next_at") WHERE state = 'submitted';--> statement-breakpoint
CREATE INDEX "transfers_onramp" ON "transfers" USING btree ("onramp_id") WHERE onramp_id is not null;--> statement-breakpoint
ALTER TABLE "payouts" ADD CONSTRAINT "payouts_kind" CHECK ("payouts"."kind" in ('close', 'sweep', 'transfer'));