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

// onStopped works on a stopped server. do gets the options of the engine and the data
// folder, which is nil with an external engine.
func onStopped(
	cfg config.Config, log *slog.Logger, do func(opts jetstream.Options, folder *durable.Folder) error,
) (err error) {
	if err := checkKey(cfg); err != nil {
		return err
	}
	var folder *durable.Folder
	opts := externalEngine(cfg, log)
	if cfg.NATS == "" {
		if folder, err = durable.OpenExisting(cfg.Data); err != nil {
			return err
		}
		defer folder.Close()
		opts.Dir = folder.Store()
	}
	opts.Box = boxOf(cfg, folder)
	return do(opts, folder)
}

// externalEngine returns the options of the external engine, if there is one.
func externalEngine(cfg config.Config, log *slog.Logger) jetstream.Options {
	return jetstream.Options{URL: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.NATSReplicas, Log: log}
}

// Check reads everything that the embedded engine has stored in an unused data folder, and
// returns what is damaged. With accept, the next start accepts the loss. read is called
// with the number of bytes read and the total.
func Check(data string, accept bool, read func(done, total int64)) (findings []string, err error) {
	folder, err := durable.OpenExisting(data)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	findings, err = jetstream.Check(folder.Store(), read)
	if err == nil && accept {
		err = jetstream.AcceptDamage(folder.Store())
	}
	return findings, err
}

// Rekey seals the records of a stopped server with another key, and reports each step. If
// it is interrupted, the server starts with either key, and another Rekey finishes the work.
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

// dropKey deletes the key in the data folder, unless it is the current one.
func dropKey(folder *durable.Folder, current string) error {
	text, err := folder.Content(keyFile, nil)
	if err != nil || text == "" || sameKey(text, current) {
		return err
	}
	if err := os.Remove(folder.Path(keyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.Sync(folder.Path("."))
}

// sameKey reports whether two texts are the same key, in any spelling.
func sameKey(a, b string) bool {
	first, err := seal.ParseKey(a)
	second, otherErr := seal.ParseKey(b)
	return err == nil && otherErr == nil && string(first) == string(second)
}
