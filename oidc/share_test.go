package oidc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/singleflight"

	"sluice"
)

// TestSharedAnswers: callers at the same time share one run, also if the first of
// them returns up. A panic is an error to them.
func TestSharedAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		run    func() (string, error)
		want   string
		causes string
	}{
		"value": {run: func() (string, error) { return "all right", nil }, want: "all right"},
		"error": {run: func() (string, error) { return "", unreachable(errors.New("nobody there")) }, causes: "nobody there"},
		"panic": {run: func() (string, error) { panic("a bug") }, causes: "a bug"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const callers = 5
				var group singleflight.Group
				var runs int
				proceed := make(chan struct{})
				values, failures := make([]string, callers), make([]error, callers)
				first, giveUp := context.WithCancel(t.Context())
				var all sync.WaitGroup
				ask := func(ctx context.Context, i int) {
					all.Go(func() {
						values[i], failures[i] = share(ctx, &group, "key", func(context.Context) (string, error) {
							runs++
							<-proceed
							return test.run()
						})
					})
					synctest.Wait()
				}
				ask(first, 0)
				for i := range callers - 1 {
					ask(t.Context(), i+1)
				}
				giveUp()
				synctest.Wait()
				if !errors.Is(failures[0], context.Canceled) {
					t.Errorf("the caller who gave up got %v", failures[0])
				}
				close(proceed)
				all.Wait()
				for i := 1; i < callers; i++ {
					if values[i] != test.want || (failures[i] != nil) != (test.causes != "") {
						t.Fatalf("caller %d got %q, %v", i, values[i], failures[i])
					}
					if failures[i] == nil {
						continue
					}
					e := sluice.AsError(failures[i])
					if e.Kind != sluice.Unavailable || !strings.Contains(e.Error(), test.causes) {
						t.Errorf("caller %d got %v", i, e)
					}
				}
				if runs != 1 {
					t.Errorf("it ran %d times", runs)
				}
			})
		})
	}
}
