package metrics_test

import (
	"testing"

	"go.uber.org/goleak"

	"sluice/stretch"
)

// TestMain checks that nothing is left running.
func TestMain(m *testing.M) {
	stretch.By(5)
	goleak.VerifyTestMain(m)
}
