package serve_test

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"sluice/iam"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

// TestMain checks that stopped servers leave nothing running. Tests mostly wait
// here, for disks and for what takes its time on purpose: so more of them run at
// the same time than there are cores, with the garbage collector set as the
// program sets it.
func TestMain(m *testing.M) {
	natstest.InMemory()
	stretch.By(3)
	iam.MakePasswordsCheap()
	debug.SetGCPercent(400)
	if err := flag.Set("test.parallel", strconv.Itoa(8*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	// The library that orders certificates withdraws what is left of an order by itself.
	withdraws := goleak.IgnoreAnyFunction("golang.org/x/crypto/acme/autocert.(*Manager).deactivatePendingAuthz")
	goleak.VerifyTestMain(m, withdraws, goleak.Cleanup(func(code int) {
		if data, err := setUpOnce(); err == nil {
			_ = os.RemoveAll(data)
		}
		os.Exit(code)
	}))
}
