package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/wait"
)

// lock keeps other clients of the same person from writing a file until unlock is called. A client
// that dies frees its lock.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := durable.MakeFolder(filepath.Dir(name)); err != nil {
		return nil, storage(err)
	}
	file, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, storage(err)
	}
	const pause = 20 * time.Millisecond
	for durable.TryLock(file) != nil {
		if err := wait.For(ctx, pause); err != nil {
			_ = file.Close()
			if errors.Is(err, context.DeadlineExceeded) {
				return nil, sluice.CodeProfileLocked.Errorf(
					"Another sluice has been renewing the login for too long; end it, or try again.")
			}
			return nil, err
		}
	}
	return func() { durable.Unlock(file) }, nil
}
