package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	"sluice/backup"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/durable"
	"sluice/wording"
)

const passphraseVariable = "SLUICE_BACKUP_PASSPHRASE" //nolint:gosec // a name

func (t *cli) backup(ctx context.Context, args []string) error {
	if args[0] == "-" && terminal.IsTerminal(t.Out) {
		return exit.Usage("A backup is no text for a terminal; redirect it, or name a file.")
	}
	params := url.Values{}
	if passphrase := os.Getenv(passphraseVariable); passphrase != "" {
		params.Set("passphrase", passphrase)
	}
	began := time.Now()
	answer, err := t.Server.Download(ctx, "server.backup", params)
	if err != nil {
		return err
	}
	defer answer.Close()
	s := &saving{cli: t, name: args[0]}
	if err := s.save(answer); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if args[0] == "-" {
		return nil
	}
	return t.Present(s.saved(), func(w io.Writer) {
		fmt.Fprintf(w, "Wrote %s: %d messages in %d streams, %s in %s.\n", view.Printable(s.name), s.summary.Messages,
			s.summary.Streams, wording.Bytes(s.written), time.Since(began).Round(time.Millisecond))
		fmt.Fprintln(w, s.aboutKey())
	})
}

// A saving is a backup on its way to a file.
type saving struct {
	*cli

	name    string
	header  backup.Header
	summary backup.Summary
	written int64
}

// save writes a backup and checks it meanwhile. It replaces a file of that name only
// once the new one is whole.
func (s *saving) save(from io.Reader) error {
	if s.name == "-" {
		return s.copy(from, s.Out)
	}
	err := durable.Write(s.name, func(file io.Writer) error { return s.copy(from, file) })
	if at := new(fs.PathError); errors.As(err, &at) && at.Op == "open" {
		return exit.Usage("%v", err)
	}
	return err
}

func (s *saving) copy(from io.Reader, to io.Writer) (err error) {
	bar := s.Transfer(-1, "backing up")
	defer bar.End()
	s.header, s.summary, err = backup.Check(io.TeeReader(from, io.MultiWriter(to, bar)))
	s.written = bar.Done
	return err
}

// saved is what programs see.
func (s *saving) saved() map[string]any {
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
		return "It opens with the key that the server was given (SLUICE_SECRET_KEY or --secret-key-file): keep that, " +
			"too."
	case s.header.Key.Passphrase:
		return "It opens with the passphrase: keep that, too."
	}
	return "Whoever has the file can open it: keep it as safe as the data folder, or set " + passphraseVariable + "."
}
