package portal_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that stopped servers, and browsers, leave nothing running.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
