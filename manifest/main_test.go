package manifest

import (
	"testing"

	"go.uber.org/goleak"

	"sluice/stretch"
)

func TestMain(m *testing.M) {
	stretch.By(5)
	goleak.VerifyTestMain(m)
}
