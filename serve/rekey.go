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
func Rekey(ctx context.Context, cfg config.Config, newKey string, log *slog.Logger, progress func(step string)) (err error) {
	box, err := parseBox("SLUICE_NEW_SECRET_KEY", newKey)
	if err != nil {
		return err
	}
	if err := checkKey(cfg); err != nil {
		return err
	}
	opts := jetstream.Options{URL: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.NATSReplicas, Log: log}
	var folder *durable.Folder
	if cfg.NATS == "" {
		if folder, err = durable.OpenExisting(cfg.Data); err != nil {
			return err
		}
		defer folder.Close()
		opts.Dir, opts.Begin = folder.Path("engine"), folder.Convert
	}
	opts.Box = boxOf(cfg, folder)
	if err := jetstream.Rekey(ctx, opts, box, progress); err != nil {
		return engineError(err)
	}
	if folder == nil {
		return nil
	}
	return dropKey(folder, newKey)
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

// sameKey tells whether two texts are the same key, however it is written.
func sameKey(a, b string) bool {
	first, err := seal.ParseKey(a)
	second, otherErr := seal.ParseKey(b)
	return err == nil && otherErr == nil && string(first) == string(second)
}
