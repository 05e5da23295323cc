package serve

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"sluice/config"
	"sluice/durable"
	"sluice/jetstream"
	"sluice/seal"
)

// Rekey seals all that a stopped server has stored with another key, and tells of
// each step. Interrupted, the server starts with the key before or with the new
// one; another Rekey finishes the work.
func Rekey(ctx context.Context, cfg config.Config, newKey string, log *slog.Logger, progress func(step string)) error {
	box, err := parseBox("SLUICE_NEW_SECRET_KEY", newKey)
	if err != nil {
		return err
	}
	return onStopped(cfg, log, func(opts jetstream.Options, folder *durable.Folder) error {
		if err := jetstream.Rekey(ctx, opts, box, progress); err != nil {
			return engineError(err)
		}
		if folder == nil {
			return nil
		}
		return dropKey(folder, newKey)
	})
}

// dropKey deletes the key in the data folder, unless it is the one that counts.
func dropKey(folder *durable.Folder, counts string) error {
	text, err := folder.Content(keyFile, nil)
	if err != nil || text == "" || sameKey(text, counts) {
		return err
	}
	if err := os.Remove(folder.Path(keyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.Sync(folder.Path("."))
}

// sameKey reports whether two texts are the same key, however it is written.
func sameKey(a, b string) bool {
	first, err := seal.ParseKey(a)
	second, otherErr := seal.ParseKey(b)
	return err == nil && otherErr == nil && string(first) == string(second)
}
