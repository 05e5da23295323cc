package step_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that tests leave nothing running: connections are closed when nobody uses them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(withDatabase{m}) }

// withDatabase stops the database after the tests.
type withDatabase struct{ *testing.M }

func (d withDatabase) Run() int {
	code := d.M.Run()
	stopPostgres()
	return code
}
