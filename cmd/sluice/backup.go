package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/backup"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/config"
	"sluice/durable"
	"sluice/serve"
	"sluice/value"
	"sluice/wording"
)

const passphraseVariable = "SLUICE_BACKUP_PASSPHRASE" //nolint:gosec // a name

func backupCommand(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Back up a running server",
		Long:    "Back up a running server to one file: everything that it has stored. Every call that was answered before is in it. The file is checked as it is written, and is there as a whole or not at all; - is standard output. If the key that opens it lies in the server's data folder, it is in the file: sealed with the passphrase in " + passphraseVariable + " if there is one, otherwise whoever has the file can open it.",
		Example: "  sluice backup sluice-$(date +%F).backup",
		Args:    arguments(1, 1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && isTerminal(t.out) {
				return usage("A backup is no text for a terminal; redirect it, or name a file.")
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			params := url.Values{}
			if passphrase := os.Getenv(passphraseVariable); passphrase != "" {
				params.Set("passphrase", passphrase)
			}
			began := time.Now()
			answer, err := c.Download(cmd.Context(), "server.backup", params)
			if err != nil {
				return err
			}
			defer answer.Close()
			s := &saving{terminal: t, name: args[0]}
			if err := s.save(answer); err != nil {
				return cmp.Or(cmd.Context().Err(), err)
			}
			if args[0] == "-" {
				return nil
			}
			if err := t.report(s.told(), "Wrote %s: %d messages in %d streams, %s in %s.", s.name, s.summary.Messages, s.summary.Streams, wording.Bytes(s.written), time.Since(began).Round(time.Millisecond)); err != nil {
				return err
			}
			return t.advise(s.aboutKey())
		},
	}
}

// A saving is a backup on its way to a file.
type saving struct {
	*terminal

	name    string
	header  backup.Header
	summary backup.Summary
	written int64
}

// save writes a backup and checks it meanwhile. It replaces a file of that name only
// once the new one is whole.
func (s *saving) save(from io.Reader) error {
	if s.name == "-" {
		return s.copy(from, s.out)
	}
	err := durable.Write(s.name, func(file io.Writer) error { return s.copy(from, file) })
	if at := new(fs.PathError); errors.As(err, &at) && at.Op == "open" {
		return usage("%v", err)
	}
	return err
}

func (s *saving) copy(from io.Reader, to io.Writer) (err error) {
	shown := s.transfer(-1, "backing up")
	defer shown.end()
	counted := writerFunc(func(p []byte) (int, error) {
		n, err := to.Write(p)
		s.written += int64(n)
		shown.reach(s.written)
		return n, err
	})
	s.header, s.summary, err = backup.Check(io.TeeReader(from, counted))
	return err
}

// told is what programs see.
func (s *saving) told() map[string]any {
	return map[string]any{
		"file": s.name, "size": s.written, "created": s.header.Created,
		"streams": s.summary.Streams, "messages": s.summary.Messages, "bytes": s.summary.Bytes,
		"key": s.header.Key != nil,
	}
}

// aboutKey says what is needed to open the backup.
func (s *saving) aboutKey() string {
	switch {
	case s.header.Key == nil:
		return "It opens with the key that the server was given (SLUICE_SECRET_KEY or --secret-key-file): keep that, too."
	case s.header.Key.Passphrase:
		return "It opens with the passphrase: keep that, too."
	}
	return "Whoever has the file can open it: keep it as safe as the data folder, or set " + passphraseVariable + "."
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// restoreCommand works on a data folder or an external engine, without a server.
func restoreCommand(t *terminal) *cobra.Command {
	var checkOnly bool
	var erasures string
	cmd := t.onStopped(&cobra.Command{
		Use: "restore FILE", Short: "Make a data folder from a backup",
		Long:    "Make a data folder from a backup, or with --nats the streams of an external engine; the backup may be of either. The folder must be empty, or not there. A backup that is damaged is refused, and nothing is left behind when something fails. The passphrase of the backup, if there is one, is read from " + passphraseVariable + ", or asked for.",
		Example: "  sluice restore sluice.backup --data ./data\n  sluice restore sluice.backup --check",
		Args:    arguments(1, 1, "a file"),
	}, stoppedSettings, func(cmd *cobra.Command, at stopped, args []string) error {
		file, err := os.Open(args[0])
		if err != nil {
			return usage("%v", err)
		}
		defer file.Close()
		erased, err := readErasures(erasures)
		if err != nil {
			return err
		}
		shown := t.transfer(0, "restoring")
		defer shown.end()
		opts := serve.RestoreOptions{Passphrase: os.Getenv(passphraseVariable), CheckOnly: checkOnly, Erasures: erased, Log: at.log, Progress: shown.reachOf}
		done, err := serve.Restore(cmd.Context(), at.Config, file, opts)
		if sluice.CodePassphraseMissing.Is(err) && isTerminal(t.in) {
			shown.end()
			if opts.Passphrase, err = t.askSecret(cmd.Context(), "Passphrase of the backup: "); err != nil {
				return err
			}
			done, err = serve.Restore(cmd.Context(), at.Config, file, opts)
		}
		shown.end()
		if err != nil {
			return err
		}
		content := fmt.Sprintf("%d messages in %d streams, of a server of version %s (%s), made %s",
			done.Messages, done.Streams, done.Version, done.Engine, done.Created.Format("2006-01-02 15:04:05 MST"))
		if checkOnly {
			return t.report(restoredDocument(done), "The backup is whole: %s.", content)
		}
		if err := t.report(restoredDocument(done), "Restored %s.", content); err != nil {
			return err
		}
		return t.advise("Start the server: " + startLine(at.Config, done))
	})
	cmd.Flags().BoolVar(&checkOnly, "check", false, "only check whether the backup is whole")
	cmd.Flags().StringVar(&erasures, "erasures", "", "also erase the calls in this file, which sluice export --erasures wrote after the backup")
	t.addForm(cmd)
	return cmd
}

// readErasures reads what exportErasures wrote. Without a file there are none.
func readErasures(file string) (list []sluice.Erasure, err error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("%v", err)
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, usage("%s is no list of erasures as sluice export --erasures writes it: %v", file, err)
	}
	return list, nil
}

// exportErasures writes what the server has erased to a file.
func (t *terminal) exportErasures(ctx context.Context, c *client.Client, file string) error {
	var all []sluice.Erasure
	if err := c.Decode(ctx, "event.erasures", nil, nil, &all); err != nil {
		return err
	}
	text, err := value.MarshalIndent(all)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, append(text, '\n')); err != nil {
		return usage("%v", err)
	}
	return t.report(map[string]any{"file": file, "erasures": len(all)}, "Wrote %s to %s.", view.Counted(len(all), "erasure"), file)
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
