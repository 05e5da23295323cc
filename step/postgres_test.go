package step_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sluice/step/postgrestest"
)

// postgres is a real database, shared by all tests; the first one that needs it starts it.
var postgres = sync.OnceValues(func() (*postgrestest.Server, error) {
	server, err := postgrestest.Start("")
	if server != nil {
		stopPostgres = server.Stop
	}
	return server, err
})

// stopPostgres ends what postgres started.
var stopPostgres = func() {}

// database returns the URL of a real database, and a connection to look at it. Without one the
// test is skipped; TEST_POSTGRES demands one.
func database(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	server, err := postgres()
	switch {
	case err != nil:
		t.Fatal(err)
	case server == nil && os.Getenv("TEST_POSTGRES") != "":
		t.Fatal("there is no PostgreSQL, and TEST_POSTGRES demands one: install postgresql")
	case server == nil:
		t.Skip("SKIPPED: there is no PostgreSQL; install postgresql")
	}
	for end := time.Now().Add(time.Minute); ; {
		conn, err := pgx.Connect(t.Context(), server.URL)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			return server.URL, conn
		}
		if time.Now().After(end) { // while it starts, it says so
			t.Fatal(err)
		}
	}
}
