-- A second look at wallets: what the first reading of the chain missed, and what their balances say.
CREATE TABLE "wallet_audits" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"after_agent_id" integer,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"reread_from" bigint
);
--> statement-breakpoint
CREATE TABLE "wallet_differences" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"difference_raw" bigint NOT NULL,
	"floor_block" bigint NOT NULL,
	"searched_from" bigint,
	"looks" integer DEFAULT 0 NOT NULL,
	"passes" integer DEFAULT 0 NOT NULL,
	"told_raw" bigint,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "wallet_differences_due" ON "wallet_differences" USING btree ("next_at");
