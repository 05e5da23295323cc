package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/config"
	"sluice/serve"
)

// restore works on a data folder or an external engine, without a server.
func (t *cli) restore(ctx context.Context) error {
	return t.onStopped(func(cfg config.Config, log *slog.Logger) error {
		file, err := os.Open(t.Args[0])
		if err != nil {
			return exit.Usage("%v", err)
		}
		defer file.Close()
		erased, err := readErasures(t.Text("erasures"))
		if err != nil {
			return err
		}
		bar := t.Transfer(0, "restoring")
		defer bar.End()
		opts := serve.RestoreOptions{
			Passphrase: os.Getenv(passphraseVariable), CheckOnly: t.On("check"), Erasures: erased,
			Paused: t.On("paused"), Log: log, Progress: bar.Reach,
		}
		done, err := serve.Restore(ctx, cfg, file, opts)
		if sluice.CodePassphraseMissing.Is(err) && t.Asks() {
			bar.End()
			if opts.Passphrase, err = t.AskSecret(ctx, "Passphrase of the backup: "); err != nil {
				return err
			}
			done, err = serve.Restore(ctx, cfg, file, opts)
		}
		bar.End()
		if err != nil {
			return err
		}
		content := fmt.Sprintf("%d messages in %d streams, of a server of version %s (%s), made %s",
			done.Messages, done.Streams, done.Version, done.Engine, done.Created.Format("2006-01-02 15:04:05 MST"))
		if opts.CheckOnly {
			return t.Report(restoredDocument(done), "The backup is whole: %s.", content)
		}
		return t.Present(restoredDocument(done), func(w io.Writer) {
			fmt.Fprintf(w, "Restored %s.\n", view.Printable(content))
			fmt.Fprintln(w, view.Printable("Start the server: "+startLine(cfg, done)))
			if opts.Paused {
				fmt.Fprintln(w, "All pipelines wait, and alerts tell nobody, until: sluice pipeline resume --all")
			}
		})
	})
}

// readErasures reads what exportErasures wrote. Without a file there are none.
func readErasures(file string) (list []sluice.Erasure, err error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.Usage("%v", err)
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, exit.Usage("%s is no list of erasures as sluice export --erasures writes it: %v", file, err)
	}
	return list, nil
}

func restoredDocument(done serve.Restored) map[string]any {
	return map[string]any{
		"created": done.Created, "version": done.Version, "engine": done.Engine, "needsKey": done.NeedsKey,
		"streams": done.Streams, "messages": done.Messages, "bytes": done.Bytes,
	}
}

// startLine returns the command that starts a server on the restored data.
func startLine(cfg config.Config, done serve.Restored) string {
	line := "sluice serve --data " + cfg.Data
	if cfg.NATS != "" {
		line = "sluice serve --nats …"
	}
	switch {
	case done.KeyFile != "":
		line += " --secret-key-file " + done.KeyFile
	case done.NeedsKey:
		line += ", with the key that it had (SLUICE_SECRET_KEY or --secret-key-file)"
	}
	return line
}
