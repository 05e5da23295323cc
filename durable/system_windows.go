package durable

import (
	"errors"
	"os"
)

// checkSystem tells that what is written can't be made to survive a power cut:
// Windows syncs files, but not the names in folders, so that a new file may be
// gone with all that was synced to it. A 200 would promise too much.
func checkSystem() error {
	return errors.New("on Windows the server can't keep data of its own: there is no way to make new files survive a power cut. Run it on Linux, or give an external engine with --nats; everything else that sluice does works here")
}

// lockFile is never called: there is no data folder.
func lockFile(*os.File) error { return errors.ErrUnsupported }

// FreeSpace is never called, either.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
