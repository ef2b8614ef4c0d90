-- What a token may spend in each hour or day. Tokens of before have one window without end, which all they have
-- spent is in.
ALTER TABLE ledger.token
    ADD COLUMN period text NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day')),
    ADD COLUMN window_start timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN spent_before numeric(56, 18) NOT NULL DEFAULT 0,
    ADD CONSTRAINT token_window CHECK (spent_before BETWEEN 0 AND spent);
ALTER TABLE ledger.token_charge ADD COLUMN at timestamptz NOT NULL DEFAULT '-infinity';
