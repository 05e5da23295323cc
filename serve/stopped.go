package serve

import (
	"log/slog"

	"sluice/config"
	"sluice/durable"
	"sluice/jetstream"
)

// onStopped does something with a server that does not run. It is told what the
// engine is opened with, and the data folder: nil with an external engine.
func onStopped(cfg config.Config, log *slog.Logger, do func(opts jetstream.Options, folder *durable.Folder) error) (err error) {
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
		opts.Dir, opts.Begin = folder.Store(), folder.Convert
	}
	opts.Box = boxOf(cfg, folder)
	return do(opts, folder)
}

// externalEngine says which external engine is meant, if any.
func externalEngine(cfg config.Config, log *slog.Logger) jetstream.Options {
	return jetstream.Options{URL: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.NATSReplicas, Log: log}
}

// Check reads all that the embedded engine has stored in a data folder which no
// server uses, and tells what is damaged. With accept the next start takes what is
// left for all there was. read is told how many bytes were read, of how many.
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
