-- Phone numbers that agents rent, their calls, and how they talk on the phone.
CREATE TABLE "call_turns" (
	"call_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "call_turns_call_id_seq_pk" PRIMARY KEY("call_id","seq")
);
--> statement-breakpoint
CREATE TABLE "calls" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"number_id" integer NOT NULL,
	"carrier" text NOT NULL,
	"carrier_call_id" text,
	"direction" text NOT NULL,
	"from_number" text NOT NULL,
	"to_number" text NOT NULL,
	"status" text NOT NULL,
	"terminal" boolean DEFAULT false NOT NULL,
	"end_reason" text,
	"key_id" integer,
	"task_id" text NOT NULL,
	"action_id" text,
	"customer_id" text,
	"max_spend_raw" bigint NOT NULL,
	"rates" jsonb NOT NULL,
	"options" jsonb NOT NULL,
	"carrier_status" text,
	"carrier_sequence" integer DEFAULT -1 NOT NULL,
	"answered_by" text,
	"streams_asked" integer DEFAULT 0 NOT NULL,
	"streams_opened" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"duration_seconds" integer,
	"transport_raw" bigint,
	"stt_raw" bigint,
	"tts_raw" bigint,
	"model_raw" bigint,
	"is_backstop" boolean DEFAULT false NOT NULL,
	"carrier_price_raw" bigint,
	"summary" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calls_status" CHECK ("calls"."status" in ('pending', 'in_progress', 'ending', 'completed', 'failed')),
	CONSTRAINT "calls_direction" CHECK ("calls"."direction" in ('inbound', 'outbound'))
);
--> statement-breakpoint
CREATE TABLE "do_not_call" (
	"account_id" text NOT NULL,
	"phone_number" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "do_not_call_account_id_phone_number_pk" PRIMARY KEY("account_id","phone_number")
);
--> statement-breakpoint
CREATE TABLE "phone_numbers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "phone_numbers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"carrier" text NOT NULL,
	"carrier_number_id" text,
	"phone_number" text NOT NULL,
	"area_code" text,
	"status" text NOT NULL,
	"monthly_rental_raw" bigint NOT NULL,
	"purchase_id" text COLLATE "C" NOT NULL,
	"paid_months" integer DEFAULT 0 NOT NULL,
	"next_renewal_at" timestamp with time zone,
	"grace_until" timestamp with time zone,
	"due_at" timestamp with time zone,
	"released_at" timestamp with time zone,
	"release_reason" text,
	"returned_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "phone_numbers_status" CHECK ("phone_numbers"."status" in ('buying', 'active', 'grace', 'released', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "telephony_suspensions" (
	"account_id" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "voice_settings" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"voice_mode" text DEFAULT 'hosted' NOT NULL,
	"system_prompt" text,
	"begin_message" text,
	"voice" text,
	"model" text,
	"webhook_url" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "voice_settings_mode" CHECK ("voice_settings"."voice_mode" in ('hosted', 'webhook'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "calls_carrier_call" ON "calls" USING btree ("carrier","carrier_call_id");--> statement-breakpoint
CREATE INDEX "calls_agent" ON "calls" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "calls_number" ON "calls" USING btree ("number_id","created_at");--> statement-breakpoint
CREATE INDEX "calls_living_agent" ON "calls" USING btree ("agent_id") WHERE not terminal;--> statement-breakpoint
CREATE INDEX "calls_living_account" ON "calls" USING btree ("account_id") WHERE not terminal;--> statement-breakpoint
CREATE INDEX "calls_due" ON "calls" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_agent_living" ON "phone_numbers" USING btree ("agent_id") WHERE status in ('buying', 'active', 'grace');--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_number_living" ON "phone_numbers" USING btree ("phone_number") WHERE status in ('buying', 'active', 'grace');--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_purchase" ON "phone_numbers" USING btree ("purchase_id");--> statement-breakpoint
CREATE INDEX "phone_numbers_agent" ON "phone_numbers" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "phone_numbers_account" ON "phone_numbers" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "phone_numbers_due" ON "phone_numbers" USING btree ("due_at") WHERE due_at is not null;