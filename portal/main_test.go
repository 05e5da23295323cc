package portal_test

import (
	"flag"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"sluice/iam"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

// TestMain checks that stopped servers and browsers leave nothing running. Tests mostly
// wait for disks, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	natstest.InMemory()
	stretch.By(5)
	iam.MakePasswordsCheap()
	debug.SetGCPercent(400)
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(browsed{m})
}

// browsed stops the browser after the tests.
type browsed struct{ *testing.M }

func (b browsed) Run() int {
	code := b.M.Run()
	stopChromium()
	return code
}
