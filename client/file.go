package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"sluice"
)

// writeDurably writes a file that only its owner can read, and that after a
// crash is either complete or unchanged.
func writeDurably(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(dir, ".draft-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err == nil {
		err = draft.Sync()
	}
	if closeErr := draft.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		_ = os.Remove(draft.Name()) // the first error says more
		return err
	}
	return SyncFolder(dir)
}

// lock keeps other clients of the same person out until unlock is called. The
// lock of a client that has died is free.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, storage(err)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, storage(err)
	}
	const look = 20 * time.Millisecond
	for {
		if err := tryLock(file); err == nil {
			return func() { _ = file.Close() }, nil // which frees the lock
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, sluice.Errorf(sluice.CodeProfileLocked, "Another sluice has been renewing the login for too long; end it, or try again.")
			}
			return nil, ctx.Err()
		case <-time.After(look):
		}
	}
}
