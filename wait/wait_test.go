package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/wait"
)

func TestAWaitLastsUntilItsTimeOrItsContextIsOver(t *testing.T) {
	for name, want := range map[string]struct {
		wait, deadline, lasts time.Duration
		err                   error
	}{
		"the time":    {wait: time.Minute, deadline: time.Hour, lasts: time.Minute},
		"the context": {wait: time.Hour, deadline: time.Minute, lasts: time.Minute, err: context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), want.deadline)
			defer cancel()
			began := time.Now()
			if err := wait.For(ctx, want.wait); !errors.Is(err, want.err) || time.Since(began) != want.lasts {
				t.Errorf("%s ends the wait after %s: %v", name, time.Since(began), err)
			}
		})
	}
}
