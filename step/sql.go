package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"sluice"
	"sluice/outward"
	"sluice/value"
)

const (
	maxRows       = 1000
	maxStatements = 100
	maxSQLConns   = 16 // for one secret
)

type sqlParams struct {
	Database   string        `json:"database" required:"true" literal:"*" doc:"Name of the secret with the URL of a PostgreSQL database: postgres://user:password@host:5432/name."`
	Statement  string        `json:"statement" literal:"*" or:"statements" doc:"The statement, with $1, $2 and so on for values."`
	Values     any           `json:"values" doc:"List of the values of the statement. Lists and objects in it are sent as JSON."`
	Statements any           `json:"statements" literal:"statement" doc:"Instead of that, up to 100 objects with statement and values, for one transaction."`
	Timeout    time.Duration `json:"timeout" min:"1ms" max:"5m" doc:"How long it may take. Default 30s."`
}

// A sqlResult is the output of sql.exec.
type sqlResult struct {
	Count int64 `json:"count" doc:"How many rows the statements have changed, or found."`
	Rows  []any `json:"rows" doc:"What the last statement gives: an object for each row."`
}

func (c *client) execute(ctx context.Context, p sqlParams) (any, error) {
	given, work, err := p.work()
	if err != nil {
		return nil, err
	}
	return reach(ctx, c, c.pools, hop{"SQL", p.Database, p.Timeout, given, false},
		func(ctx context.Context, l line[*pgxpool.Pool]) (any, error) {
			return transact(ctx, l.to, l.bare, work)
		})
}

// sqlKeys are what URLs of databases may have in their query. Others read files of the server.
var sqlKeys = strings.Fields("sslmode application_name connect_timeout default_query_exec_mode search_path options " +
	"statement_cache_capacity description_cache_capacity target_session_attrs")

// openPool returns a pool, without a connection yet.
func (c *client) openPool(a address) (*pgxpool.Pool, error) {
	if a.full.Scheme != "postgres" && a.full.Scheme != "postgresql" || a.full.User == nil {
		return nil, outward.SecretError{Fault: "must be a URL such as postgres://user@host:5432/name, with a password"}
	}
	for key := range a.full.Query() {
		if !slices.Contains(sqlKeys, key) {
			return nil, outward.SecretError{
				Fault: "must have nothing in its query but " + strings.Join(sqlKeys, ", "),
			}
		}
	}
	config, err := pgxpool.ParseConfig(a.text)
	if err != nil {
		return nil, outward.SecretError{Fault: "can't be used as the URL of a database"}
	}
	config.MinConns, config.MaxConns, config.MaxConnIdleTime = 0, maxSQLConns, cmp.Or(c.Idle, targetIdle)
	config.ConnConfig.Password = a.password // not that of the server's environment
	config.ConnConfig.DialFunc = c.guard.DialContext
	config.ConnConfig.MaxProtocolMessageBodyLen = value.MaxSize
	return pgxpool.NewWithConfig(context.Background(), config)
}

// A statement is one of the statements of a step.
type statement struct {
	text   string
	values []any // texts, or nil
}

// work returns the statements of a step, as they are given and as they are sent.
func (p sqlParams) work() (given []any, work []statement, err error) {
	given, several := p.Statements.([]any)
	switch {
	case !several:
		given = []any{map[string]any{"statement": p.Statement, "values": p.Values}}
	case p.Values != nil:
		return nil, nil, invalid("values", "belong into statements, each beside the statement that they are for")
	}
	work = make([]statement, len(given))
	for i, item := range given {
		work[i].text, _ = member[string](item, "statement")
		values, _ := member[[]any](item, "values")
		for _, v := range values { // the server knows best what a text means for the type that it wants
			var sent any // null
			if v != nil {
				if sent, err = cellOf(v); err != nil {
					return nil, nil, err
				}
			}
			work[i].values = append(work[i].values, sent)
		}
	}
	return given, work, nil
}

func validStatement(given any) error {
	switch text, _ := given.(string); {
	case text == "":
		return errors.New("must be the text of a statement")
	case copiesIn.MatchString(text):
		return errors.New("must not be copy from stdin, which waits for data; insert takes values")
	case ofTransactions.MatchString(text):
		return errors.New("must not begin or end a transaction: it is part of one, which ends well with the step")
	}
	return nil
}

func validValues(given any) error {
	if _, isList := given.([]any); given != nil && !isList {
		return errors.New("must be a list")
	}
	return nil
}

func validStatements(given any) error {
	list, _ := given.([]any)
	if len(list) == 0 || len(list) > maxStatements {
		return fmt.Errorf("must be a list of 1 to %d objects", maxStatements)
	}
	for i, item := range list {
		fields, _ := item.(map[string]any)
		for name := range fields {
			if name != "statement" && name != "values" {
				return fmt.Errorf("must be objects with statement and values, not %s", sluice.Quote(name))
			}
		}
		if err := validStatement(fields["statement"]); err != nil {
			return fmt.Errorf("has a mistake in statement %d: it %w", i+1, err)
		}
		if err := validValues(fields["values"]); err != nil {
			return fmt.Errorf("has a mistake in the values of statement %d: they %w", i+1, err)
		}
	}
	return nil
}

// beginning is how a statement begins before its first word.
const beginning = `(?is)^(\s|;|--[^\n]*\n|/\*.*?\*/)*`

var (
	// copiesIn finds statements that wait for data, of which there is none: they would last until the timeout.
	copiesIn = regexp.MustCompile(beginning + `copy\s.*\bfrom\s+stdin\b`)
	// ofTransactions finds statements behind which the others would not be undone.
	ofTransactions = regexp.MustCompile(
		beginning + `(begin|start\s+transaction|commit|end|rollback|abort|prepare\s+transaction)\b`)
)

var asText = pgx.QueryResultFormats{pgx.TextFormatCode}

// givesNoRows finds statements that are a transaction of their own without being told, in one round
// trip: they can't give more rows than are allowed, for which they would have to be undone.
var (
	givesNoRows = regexp.MustCompile(`(?i)^\s*(insert|update|delete|merge)\s`)
	returning   = regexp.MustCompile(`(?i)returning`)
)

// A querier is a connection, or a transaction on it.
type querier interface {
	Query(ctx context.Context, statement string, values ...any) (pgx.Rows, error)
}

// transact runs statements in a transaction.
func transact(ctx context.Context, pool *pgxpool.Pool, at *url.URL, work []statement) (got any, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, sqlError(at, err, true)
	}
	defer conn.Release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, count, size := []any{}, 0, 0
	query := func(by querier) error {
		for _, s := range work {
			answer, err := by.Query(ctx, s.text, append([]any{asText}, s.values...)...)
			if err != nil {
				return err
			}
			rows, err = rowsOf(answer, &size)
			if sluice.CodeAnswerTooLarge.Is(err) {
				cancel() // otherwise all other rows would be read
			}
			answer.Close()
			count += int(answer.CommandTag().RowsAffected())
			if err = cmp.Or(err, answer.Err()); err != nil {
				return err
			}
		}
		return nil
	}
	if text := work[0].text; len(work) == 1 && givesNoRows.MatchString(text) && !returning.MatchString(text) {
		err = query(conn)
	} else {
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return query(tx) })
	}
	if err != nil {
		return nil, sqlError(at, err, conn.Conn().IsClosed())
	}
	return map[string]any{"count": count, "rows": rows}, nil
}

// rowsOf reads rows, and adds their size to that of all.
func rowsOf(rows pgx.Rows, size *int) ([]any, error) {
	list := []any{}
	fields := rows.FieldDescriptions()
	for rows.Next() {
		row := make(map[string]any, len(fields))
		for i, cell := range rows.RawValues() {
			row[fields[i].Name] = columnOf(fields[i].DataTypeOID, cell)
			*size += len(fields[i].Name) + len(cell)
		}
		if list = append(list, row); len(list) > maxRows || *size > value.MaxSize {
			return nil, sluice.CodeAnswerTooLarge.Errorf(
				"There are more than %d rows, or than %d bytes in them; ask for less.", maxRows, value.MaxSize)
		}
	}
	return list, rows.Err()
}

// columnOf returns a value that came as text.
func columnOf(oid uint32, cell []byte) any {
	if cell == nil {
		return nil
	}
	switch oid {
	case pgtype.BoolOID:
		return string(cell) == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID,
		pgtype.JSONOID, pgtype.JSONBOID:
		if v, err := value.Decode(cell); err == nil { // NaN is no number in JSON
			return v
		}
	}
	return strings.ToValidUTF8(string(cell), "\ufffd")
}

// sqlError returns the error of a transaction. A lost connection and some states mean that it is
// worth trying again. What the database says may quote values, so it is told for mistakes in the
// statement only.
func sqlError(at *url.URL, err error, lost bool) error {
	if _, ours := errors.AsType[*sluice.Error](err); ours {
		return err
	}
	if _, large := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); large {
		return sluice.CodeAnswerTooLarge.Errorf("A row has more than %d bytes; ask for less.", value.MaxSize)
	}
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && lost:
		return away(at, err)
	case !ok:
		return sluice.CodeSQLFailed.Errorf(
			"The statement can't be sent: it needs as many values as it has $1, $2 and so on.").Because(err)
	}
	state := refusal.Code
	said := refusal.ConstraintName
	if strings.HasPrefix(state, "42") {
		said = refusal.Message
	}
	for _, again := range []string{"08", "40001", "40P01", "53", "57P0"} {
		if strings.HasPrefix(state, again) {
			return sluice.CodeTargetAway.Errorf("%q says to try again, with sqlState %s.", at.Hostname(),
				state).InState(state)
		}
	}
	return sluice.CodeSQLFailed.Errorf("The database %q refuses with sqlState %s%s.", at.Hostname(), state,
		strings.TrimSuffix(": "+said, ": ")).InState(state)
}
