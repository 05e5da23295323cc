package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"sluice"
	"sluice/backup"
	"sluice/config"
	"sluice/durable"
	"sluice/jetstream"
)

// RestoreOptions are what a restore needs beside the settings.
type RestoreOptions struct {
	Passphrase string           // of the key in the backup
	CheckOnly  bool             // restore nothing
	Erasures   []sluice.Erasure // that the server made after the backup
	Paused     bool             // pipelines wait until they are resumed
	Log        *slog.Logger
	Progress   func(read, all int64) // called with the bytes read so far
}

// Restored is the result of a restore.
type Restored struct {
	backup.Header `json:"-"`
	backup.Summary

	NeedsKey bool   `json:"needsKey"` // only the operator has the key
	KeyFile  string `json:"keyFile,omitempty"`
}

// Restore makes a data folder, or the streams of an external engine, from a backup. It
// reads the backup twice, to check it before it makes anything. If it fails, it leaves
// nothing behind.
func Restore(
	ctx context.Context, cfg config.Config, file io.ReadSeeker, opts RestoreOptions,
) (done Restored, err error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return done, err
	}
	passes := int64(2)
	if opts.CheckOnly {
		passes = 1
	}
	source := &watched{from: file, ctx: ctx, tell: func(read int64) { opts.Progress(read, passes*size) }}
	if err := rewind(file); err != nil {
		return done, err
	}
	var foreign error
	check := jetstream.StreamCheck()
	done.Header, done.Summary, err = backup.CheckEach(source, func(s backup.Stream) {
		if err := check(s); foreign == nil {
			foreign = err
		}
	})
	if err != nil {
		return done, err
	}
	if done.Data > durable.Format {
		return done, sluice.CodeBackupNewer.Errorf("A newer version made this backup (%s): what is in it has "+
			"format %d, this program knows %d. Restore it with that version.", done.Version, done.Data, durable.Format)
	}
	if foreign != nil {
		return done, foreign
	}
	done.NeedsKey = done.Key == nil
	if opts.CheckOnly {
		return done, nil
	}
	key, err := keyOf(cfg, done.Header, opts.Passphrase)
	if err != nil {
		return done, err
	}
	if key != "" && cfg.NATS != "" {
		done.KeyFile = cfg.SecretKeyFile
	}
	if err := rewind(file); err != nil {
		return done, err
	}
	from, err := backup.NewReader(source)
	if err != nil {
		return done, err
	}
	if cfg.NATS == "" {
		return done, restoreFolder(ctx, cfg, from, key, opts)
	}
	return done, restoreExternal(ctx, cfg, from, key, opts)
}

// restoreExternal makes the streams of an external engine. It writes the key first:
// without it the streams could be neither read nor restored again.
func restoreExternal(
	ctx context.Context, cfg config.Config, from *backup.Reader, key string, opts RestoreOptions,
) error {
	if key != "" {
		if err := durable.WriteFile(cfg.SecretKeyFile, []byte(key+"\n")); err != nil {
			return fmt.Errorf("secret-key-file: %w", err)
		}
	}
	err := jetstream.Restore(ctx, erasing(externalEngine(cfg, opts.Log), cfg, nil), from, opts.Erasures, opts.Paused)
	if err == nil {
		return nil
	}
	if key != "" && !errors.Is(err, jetstream.ErrLeftBehind) {
		if err := os.Remove(cfg.SecretKeyFile); err != nil {
			opts.Log.Error("The key of a failed restore is left behind; delete it.", "file", cfg.SecretKeyFile,
				"error", err)
		}
	}
	return restoreError(err)
}

// restoreFolder makes a data folder, with the key if there is one.
func restoreFolder(
	ctx context.Context, cfg config.Config, from *backup.Reader, key string, opts RestoreOptions,
) (err error) {
	folder, err := durable.CreateFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Abandon())
		}
	}()
	if key != "" {
		if _, err := folder.Content(keyFile, func() string { return key }); err != nil {
			return err
		}
	}
	const everything = 1 << 49 // bytes: less than the engine takes for all streams
	engine := erasing(jetstream.Options{
		Dir: folder.Store(), EventMaxBytes: everything, Log: opts.Log,
	}, cfg, folder.Folder)
	if err := jetstream.Restore(ctx, engine, from, opts.Erasures, opts.Paused); err != nil {
		return restoreError(err)
	}
	return folder.Finish()
}

// erasing returns the options of an engine that applies erasures and keeps the rest, however
// old it is.
func erasing(o jetstream.Options, cfg config.Config, folder *durable.Folder) jetstream.Options {
	const always = 100 * 365 * 24 * time.Hour
	o.Box, o.EventMaxAge, o.ResultTTL = boxOf(cfg, folder), always, always
	return o
}

// restoreError is the error of a failed restore. Our own errors need no prefix.
func restoreError(err error) error {
	if ours, ok := errors.AsType[*sluice.Error](err); ok {
		return ours
	}
	return fmt.Errorf("it could not be restored: %w", err)
}

// keyOf returns the key to store with the restored data, "" if the operator has it.
func keyOf(cfg config.Config, h backup.Header, passphrase string) (string, error) {
	setting, given, err := givenKey(cfg)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && (!missing || h.Key == nil) {
		return "", err
	}
	if h.Key == nil {
		return "", nil
	}
	key, err := h.Key.Open(passphrase)
	switch {
	case err != nil:
		return "", err
	case given != "" && !sameKey(given, key):
		return "", sluice.CodeSecretKeyOther.Errorf(
			"%s is not the key of this backup, which has its own: leave the setting out.", setting)
	case given != "":
		return "", nil
	case cfg.NATS != "" && !missing:
		return "", sluice.CodeSecretKeyMissing.Errorf("The key of this backup has to be kept for the servers " +
			"of the external engine: name a file with --secret-key-file, and it is written there.")
	}
	return key, nil
}

// watched is a reader that reports its progress, and stops when ctx ends.
type watched struct {
	from io.Reader
	ctx  context.Context //nolint:containedctx // readers take none
	tell func(read int64)
	read int64
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.from.Read(p)
	w.read += int64(n)
	w.tell(w.read)
	return n, err
}

func rewind(file io.Seeker) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("the backup must be a file that can be read twice: %w", err)
	}
	return nil
}
