package serve_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that stopped servers leave nothing running.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
