package step_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/step"
	"sluice/step/postgrestest"
)

// brief is local, with connections that are closed soon.
var brief = step.HTTPOptions{AllowNetworks: local.AllowNetworks, Idle: 10 * time.Millisecond}

// sqlStep returns a source with one step.
func sqlStep(fields string) string { return "pipeline:\n- sql.exec: {database: db, " + fields + "}\n" }

func TestStatements(t *testing.T) {
	at, conn := database(t)
	if _, err := conn.Exec(t.Context(), "create table item (id int primary key, name text, at timestamptz, price numeric, data jsonb, ok bool)"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(t.Context(), "drop table item") }()
	set := newSet(step.Options{HTTP: brief})
	for _, test := range []struct{ name, step, want string }{
		{"insert", "statement: 'insert into item values ($1, $2, $3, $4, $5, $6)', values: ['#{1}', 'Ä ''; --', '2030-01-31T12:00:00Z', 12.50, {a: ['<b>', null]}, true]", `{"count":1,"rows":[]}`},
		{"text for a number, a number for text", "statement: 'insert into item (id, name) values ($1, $2)', values: ['2', 3]", `{"count":1,"rows":[]}`},
		{"again", "statement: 'insert into item (id) values ($1) on conflict do nothing', values: [2]", `{"count":0,"rows":[]}`},
		{"select", "statement: 'select * from item where id = $1', values: [1]", `{"count":1,"rows":[{"at":"2030-01-31 12:00:00+00","data":{"a":["<b>",null]},"id":1,"name":"Ä '; --","ok":true,"price":12.5}]}`},
		{"null", "statement: 'select $1::int as a, $2::text as b', values: [null, '']", `{"count":1,"rows":[{"a":null,"b":""}]}`},
		{"numbers", "statement: \"select 12345678901234567890.10::numeric as n, 'NaN'::float8 as f, 9223372036854775807 as i, 1.5::float4 as s\"", `{"count":1,"rows":[{"f":"NaN","i":9223372036854775807,"n":12345678901234567890.10,"s":1.5}]}`},
		{"nothing", "statement: 'select 1 where false'", `{"count":0,"rows":[]}`},
		{"returning", "statement: 'update item set name = $2 where id = $1 returning id', values: [2, x]", `{"count":1,"rows":[{"id":2}]}`},
		{"an array of JSON", "statement: 'select count(*) as n from item where id in (select jsonb_array_elements_text($1::jsonb)::int)', values: [[1, 2, 9]]", `{"count":1,"rows":[{"n":2}]}`},
		{"several", "statements: [{statement: 'insert into item (id) values ($1)', values: ['#{2+1}']}, {statement: 'insert into item (id) values (4)'}, {statement: 'select max(id) as m from item'}]", `{"count":3,"rows":[{"m":4}]}`},
		{"words of transactions", "statements: [{statement: 'savepoint \"commit\"'}, {statement: 'select 1 as \"end\"'}, {statement: \"select 'x; commit' as beginning\"}]", `{"count":2,"rows":[{"beginning":"x; commit"}]}`},
		{"a copy outward", "statement: 'copy (select 1) to stdout'", `{"count":1,"rows":[]}`},
		{"1000 rows", "statement: 'select generate_series(1, 1000)', output: vars.x}\n- set: {value: '#{len(vars.x.rows)}'", `1000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := runWith(t, set, sqlStep(test.step), map[string]string{"db": at})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(out.Body); strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(got)) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			target, _ := url.Parse(at)
			seen := out.Report.Steps[0].HTTP
			if seen.Method != "SQL" || seen.URL != "postgres://"+target.Host+"/postgres" || seen.StatusCode != 200 || !strings.Contains(seen.Request, `"statement":"`) || !strings.Contains(seen.Response, `"count":`) {
				t.Errorf("the report has %+v", seen)
			}
			if fmt.Sprint(out.Secrets, out.Hosts) != "[db] ["+target.Host+"]" {
				t.Errorf("the audit log has %v, %v", out.Secrets, out.Hosts)
			}
		})
	}
	if _, err := runWith(t, set, sqlStep("statements: [{statement: 'insert into item (id) values (5)'}, {statement: 'insert into item (id) values (4)'}]"), map[string]string{"db": at}); err == nil {
		t.Error("4 was inserted twice")
	}
	_, err := runWith(t, set, sqlStep("statement: 'insert into item (id) select generate_series(1000, 2000) Returning id'"), map[string]string{"db": at})
	refuses(t, err, sluice.TooLarge, "answer-too-large", "1000 rows")
	var count int
	if err := conn.QueryRow(t.Context(), "select count(*) from item where id = 5 or id >= 1000").Scan(&count); err != nil || count != 0 {
		t.Errorf("half of a transaction was done: %d, %v", count, err)
	}
}

// TestStatementsFail: with the state, for good or for now, and without values and credentials.
func TestStatementsFail(t *testing.T) {
	at, conn := database(t)
	if _, err := conn.Exec(t.Context(), "create table once (id int constraint once_only unique, name text); create function raise(code text) returns int language plpgsql as $$ begin raise exception 'h1dden' using errcode = code; end $$"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(t.Context(), "drop table once; drop function raise") }()
	full, _ := url.Parse(at)
	changed := func(change func(*url.URL)) string {
		u := *full
		change(&u)
		return u.String()
	}
	raise := func(state string) string { return "statement: 'select raise($1)', values: ['" + state + "']" }
	insert := "statement: 'insert into once select $1::int from (values (1), (1)) as x', values: [4711]"
	set := newSet(step.Options{HTTP: brief})
	for name, test := range map[string]struct {
		database, step string
		kind           sluice.Kind
		code, says     string
		state          string
		status         int
	}{
		"a constraint":         {at, insert, sluice.Invalid, "sql-failed", "sqlState 23505: once_only", "23505", 400},
		"a mistake":            {at, "statement: 'selec 1'", sluice.Invalid, "sql-failed", `syntax error at or near "selec"`, "42601", 400},
		"no such table":        {at, "statement: 'select * from nothing'", sluice.Invalid, "sql-failed", `relation "nothing" does not exist`, "42P01", 400},
		"no number":            {at, "statement: 'select $1::int', values: [h1dden]", sluice.Invalid, "sql-failed", "sqlState 22P02.", "22P02", 400},
		"of its own":           {at, raise("P0001"), sluice.Invalid, "sql-failed", "sqlState P0001.", "P0001", 400},
		"too slow":             {at, "statement: 'select pg_sleep(60)', timeout: 50ms", sluice.Unavailable, "target-away", "it took too long", "", 0},
		"serialization":        {at, raise("40001"), sluice.Unavailable, "target-away", "try again, with sqlState 40001", "40001", 0},
		"deadlock":             {at, raise("40P01"), sluice.Unavailable, "target-away", "40P01", "40P01", 0},
		"too many connections": {at, raise("53300"), sluice.Unavailable, "target-away", "53300", "53300", 0},
		"starts":               {at, raise("57P03"), sluice.Unavailable, "target-away", "57P03", "57P03", 0},
		"connection exception": {at, raise("08006"), sluice.Unavailable, "target-away", "08006", "08006", 0},
		"few values":           {at, "statement: 'select $1::int, $2::int', values: [1]", sluice.Invalid, "sql-failed", "as many values", "", 400},
		"many values":          {at, "statement: 'select 1', values: [1]", sluice.Invalid, "sql-failed", "as many values", "", 400},
		"two statements":       {at, "statement: 'select 1; select 2'", sluice.Invalid, "sql-failed", "42601", "42601", 400},
		"1001 rows":            {at, "statement: 'select generate_series(1, 1001)'", sluice.TooLarge, "answer-too-large", "1000 rows", "", 400},
		"large rows":           {at, "statement: \"select repeat('x', 1000000) from generate_series(1, 900)\"", sluice.TooLarge, "answer-too-large", "bytes", "", 400},
		"a large row":          {at, "statement: \"select repeat('x', 20000000)\"", sluice.TooLarge, "answer-too-large", "A row", "", 400},
		"a wrong password":     {changed(func(u *url.URL) { u.User = url.UserPassword("sluice", "wr0ng") }), "statement: 'select 1'", sluice.Invalid, "sql-failed", "28P01", "28P01", 400},
		"no such database":     {changed(func(u *url.URL) { u.Path = "/other" }), "statement: 'select 1'", sluice.Invalid, "sql-failed", "3D000", "3D000", 400},
		"nobody there":         {changed(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "statement: 'select 1'", sluice.Unavailable, "target-away", `"127.0.0.1" gives no answer: the host refuses connections`, "", 0},
		"a private network":    {changed(func(u *url.URL) { u.Host = "127.0.0.2:" + u.Port() }), "statement: 'select 1'", sluice.Forbidden, "address-refused", "127.0.0.2", "", 400},
		"no URL":               {"p0stgres-password", "statement: 'select 1'", sluice.Invalid, "auth-failed", "postgres://user", "", -1},
		"a socket":             {"postgres:///x?host=/tmp", "statement: 'select 1'", sluice.Invalid, "auth-failed", "postgres://user", "", -1},
		"a socket as host":     {"postgres://a:b@%2Ftmp/x", "statement: 'select 1'", sluice.Invalid, "auth-failed", "postgres://user", "", -1},
		"another scheme":       {"mysql://a:b@example.com/x", "statement: 'select 1'", sluice.Invalid, "auth-failed", "postgres://user", "", -1},
		"a file of the server": {at + "?sslrootcert=/etc/passwd", "statement: 'select 1'", sluice.Invalid, "auth-failed", "nothing in its query but sslmode", "", -1},
		"another host":         {at + "?host=169.254.169.254", "statement: 'select 1'", sluice.Invalid, "auth-failed", "nothing in its query", "", -1},
		"values beside them":   {at, "statements: [{statement: 'select 1'}], values: [1]", sluice.Invalid, "parameter-invalid", "belong into statements", "", -1},
		"a bad setting":        {at + "?sslmode=none", "statement: 'select 1'", sluice.Invalid, "auth-failed", "can't be used", "", -1},
		"at once":              {at, "statement: 'select 1', timeout: '#{0}'", sluice.Invalid, "parameter-invalid", "duration from 1ms to 5m", "", -1},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runWith(t, set, sqlStep(test.step), map[string]string{"db": test.database})
			refuses(t, err, test.kind, test.code, test.says)
			if got := sluice.AsError(err).SQLState; got != test.state {
				t.Errorf("the state is %q, want %q", got, test.state)
			}
			for _, hidden := range []string{"4711", "h1dden", "wr0ng", postgrestest.Password} {
				if strings.Contains(sluice.AsError(err).Message, hidden) {
					t.Errorf("%s is in %v", hidden, err)
				}
			}
			seen := out.Report.Steps[0].HTTP
			if test.status < 0 && seen != nil || test.status >= 0 && (seen == nil || seen.StatusCode != test.status || strings.Contains(fmt.Sprint(*seen), postgrestest.Password)) {
				t.Errorf("the report has %+v", seen)
			}
		})
	}
}

// TestDatabaseIsWrittenOut: names and statements can't be computed, and mistakes in what is written out are
// found before a run.
func TestDatabaseIsWrittenOut(t *testing.T) {
	set := newSet(step.Options{HTTP: brief})
	for text, says := range map[string]string{
		"pipeline: [sql.exec: {database: '#{body}', statement: select 1}]":                        "parameter database of sql.exec must be written out",
		"pipeline: [sql.exec: {database: db, statement: 'select #{body}'}]":                       "parameter statement of sql.exec must be written out",
		"pipeline: [sql.exec: {database: db, statements: '#{body}'}]":                             "parameter statements.statement of sql.exec must be written out",
		"pipeline: [sql.exec: {database: db, statements: [{statement: '#{body}', values: [1]}]}]": "parameter statements.statement",
		"pipeline: [sql.exec: {statement: select 1}]":                                             "database",
		sqlStep("timeout: 1s"): "either statement or statements",
		sqlStep("statement: select 1, statements: [{statement: select 1}]"): "either statement or statements",
		sqlStep("statement: ''"):                                                                                 "statement must be the text",
		sqlStep("statements: []"):                                                                                "list of 1 to 100",
		sqlStep("statement: 'select 1', values: 1"):                                                              "values must be a list",
		sqlStep("statements: [{statement: 'select $1', value: [1]}]"):                                            `not "value"`,
		sqlStep("statements: [{statement: 'select $1', values: 1}]"):                                             "values of statement 1: they must be a list",
		sqlStep("statement: 'copy once from stdin'"):                                                             "must not be copy from stdin",
		sqlStep(`statement: "-- in\n/* bulk */ COPY once (id)\nFROM STDIN with csv"`):                            "must not be copy from stdin",
		sqlStep("statements: [{statement: 'select $1', values: '#{[1]}'}, {statement: 'copy once from stdin'}]"): "statement 2: it must not be copy",
		sqlStep("statement: commit"):                                                                             "must not begin or end a transaction",
		sqlStep(`statement: "/* a */ ; -- b\nSTART  Transaction read only"`):                                     "must not begin or end a transaction",
		sqlStep("statements: [{statement: select 1}, {statement: 'ROLLBACK;'}]"):                                 "statement 2: it must not begin or end a transaction",
		"pipeline: [kafka.send: {cluster: '#{body}', topic: t}]":                                                 "parameter cluster of kafka.send must be written out",
		"pipeline: [kafka.send: {cluster: k, topic: a b}]":                                                       "249 letters",
		"pipeline: [kafka.send: {cluster: k, topic: ''}]":                                                        "249 letters",
	} {
		_, err := runWith(t, set, text, nil)
		refuses(t, err, sluice.Invalid, "pipeline-invalid", says)
	}
}
